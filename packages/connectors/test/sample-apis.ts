import http from 'node:http'
import type { AddressInfo } from 'node:net'
import { gzipSync } from 'node:zlib'

/** Servers that answer as the public references of known APIs say, each with the same seven records. */
export type SampleApis = {
  readonly origin: string
  /** Another server, which has the files. */
  readonly files: string
  close(): void
}

/** Identifiers of the records of every list, in pages of three. */
export const sampleIds = [1, 2, 3, 4, 5, 6, 7]

type Given = {
  readonly query: URLSearchParams
  readonly headers: http.IncomingHttpHeaders
  readonly body: Record<string, unknown>
  readonly form: URLSearchParams
  readonly method: string
}
type Reply = {
  readonly json?: unknown
  readonly bytes?: Buffer | string
  readonly status?: number
  readonly headers?: Record<string, string>
}

const from = (at: number, count = 3) => sampleIds.slice(at, at + count)
const basic = (pair: string) => `Basic ${Buffer.from(pair).toString('base64')}`
const unauthorized: Reply = { status: 401, json: { error: 'unauthorized' } }
/** The place behind a record. */
const after = (id: unknown) => sampleIds.indexOf(Number(id)) + 1
const nextOf = (at: number) => (at + 3 < sampleIds.length ? at + 3 : undefined)

/** Each API by the first part of the path. A request with anything else is refused, so that it is seen. */
const apis: Readonly<Record<string, (path: string, given: Given, origin: string) => Reply>> = {
  // Payments: the ID of the last record leads to the next page, and the key is the user name.
  payments(_path, { headers, query }) {
    if (headers.authorization !== basic('canary-token:')) return unauthorized
    if (query.get('limit') !== '3' || Number(query.get('created[gte]')) !== Date.parse('2026-01-01') / 1000)
      return { status: 400 }
    const at = query.has('starting_after') ? after(query.get('starting_after')) : 0
    return {
      json: {
        object: 'list',
        data: from(at).map((id) => ({ id, amount: id * 100 })),
        has_more: nextOf(at) !== undefined,
      },
    }
  },
  // A public catalogue: an address in each answer.
  catalogue(path, { query }, origin) {
    const at = Number(query.get('offset') ?? 0)
    const next = nextOf(at)
    return {
      json: {
        count: 7,
        next: next === undefined ? null : `${origin}${path}?offset=${next}`,
        results: from(at).map((id) => ({ name: `n${id}`, url: `${origin}/catalogue/${id}/` })),
      },
    }
  },
  // Mail: records of JSON:API, whose attributes are lifted or added, with a version header and a word before the key.
  mail(path, { headers, query }, origin) {
    if (headers.authorization !== 'Klav-Key canary-token' || headers.revision !== '2026-01-15') return unauthorized
    const at = Number(query.get('page[cursor]') ?? 0)
    const next = nextOf(at)
    const data = from(at).map((id) => ({
      type: 'profile',
      id: String(id),
      attributes: { email: `p${id}@example.com`, updated: '2026-03-01T00:00:00Z' },
    }))
    return { json: { data, links: { next: next === undefined ? null : `${origin}${path}?page%5Bcursor%5D=${next}` } } }
  },
  // Support: a search with a body, whose cursor is in the body.
  search(_path, { headers, body, method }) {
    if (headers.authorization !== 'Bearer canary-token' || method !== 'POST') return unauthorized
    const pagination = (body.pagination ?? {}) as { per_page?: number; starting_after?: string }
    const value = (body.query as { value?: unknown } | undefined)?.value
    if (pagination.per_page !== 3 || value !== 1_767_225_600) return { status: 400, json: body }
    const at = Number(pagination.starting_after ?? 0)
    const next = nextOf(at)
    return {
      json: {
        contacts: from(at).map((id) => ({ id })),
        pages: next === undefined ? {} : { next: { starting_after: String(next) } },
      },
    }
  },
  // Tickets: pages by a cursor, and comments of each ticket, some of which are gone.
  tickets(path, { headers, query }) {
    if (headers.authorization !== basic('ann@example.com/token:canary-password')) return unauthorized
    const [, id] = /^\/tickets\/(\d+)\/comments$/.exec(path) ?? []
    if (id !== undefined)
      return Number(id) % 2 ? { json: { comments: [{ body: `c${id}` }] } } : { status: 404, json: {} }
    const at = Number(query.get('page[after]') ?? 0)
    return {
      json: {
        tickets: from(at).map((one) => ({ id: one, subject: `s${one}` })),
        meta: { has_more: nextOf(at) !== undefined, after_cursor: String(at + 3) },
      },
    }
  },
  // Repositories: a header leads to the next page.
  repositories(path, { query }) {
    const at = Number(query.get('page') ?? 1)
    const next = nextOf((at - 1) * 3) === undefined ? undefined : at + 1
    return {
      json: from((at - 1) * 3).map((id) => ({ id, owner: { login: 'penstock' } })),
      headers: next ? { link: `<${path}?page=${next}>; rel="next"` } : {},
    }
  },
  // Documents: POST with the cursor as a key of the body, and records that are filtered.
  documents(_path, { headers, body }) {
    if (headers.authorization !== 'Bearer canary-token') return unauthorized
    const at = Number(body.start_cursor ?? 0)
    const next = nextOf(at)
    return {
      json: {
        results: from(at).map((id) => ({ id, archived: id % 2 === 0 })),
        has_more: next !== undefined,
        next_cursor: next === undefined ? null : String(next),
      },
    }
  },
  // Lists and their members, of which each has members of its own.
  lists(path, { query, headers }) {
    if (headers['x-api-key'] !== 'canary-token') return unauthorized
    const [, list, member] = /^\/lists\/(\d+)\/members(?:\/(\d+)\/tags)?$/.exec(path) ?? []
    if (member !== undefined) return { json: { tags: [{ tag: `${list}-${member}` }] } }
    const at = Number(query.get('offset') ?? 0)
    if (query.get('count') !== '3') return { status: 400 }
    if (list !== undefined)
      return { json: { members: at > 0 ? [] : [{ id: Number(list) * 10, status: query.get('status') }] } }
    return { json: { lists: from(at).map((id) => ({ id, name: `l${id}` })) } }
  },
  // A login gives a token, which a header has; and dates in a format of their own.
  login(path, { body, headers, query }) {
    if (path === '/login/session') {
      return body.user === 'reader' && body.pass === 'canary-password' && body.realm === 'a'
        ? { json: { data: { token: 'granted' } } }
        : unauthorized
    }
    if (headers['x-session'] !== 'granted') return unauthorized
    return { json: { rows: [{ day: query.get('day'), until: query.get('until') }] } }
  },
  // GraphQL: the cursor is deep in the body.
  graphql(_path, { body, headers }) {
    if (headers.authorization !== 'Bearer canary-token') return unauthorized
    const { after: cursor = '0' } = (body.variables ?? {}) as { after?: string }
    const at = Number(cursor)
    const next = nextOf(at)
    return {
      json: {
        data: {
          items: {
            edges: from(at).map((id) => ({ node: { id } })),
            pageInfo: { endCursor: String(next ?? ''), hasNextPage: next !== undefined },
          },
        },
      },
    }
  },
}

const filesOf: Readonly<Record<string, Buffer | string>> = {
  '/files/people.csv.gz': gzipSync('id;name\n1;"A;nn"\n2;\n'),
  '/files/people.jsonl': '{"id":12345678901234567890}\n\n{"id":2}\n',
  '/files/people.xml': '<people><person><id>1</id></person><person><id>2</id></person></people>',
  '/files/bomb.gz': gzipSync(Buffer.alloc(32 << 20)),
}

/** Starts both servers. */
export async function startSampleApis(): Promise<SampleApis> {
  const start = async (answer: (path: string, given: Given) => Reply) => {
    const server = http.createServer(async (request, response) => {
      let text = ''
      for await (const piece of request) text += piece
      const url = new URL(request.url ?? '', 'http://127.0.0.1')
      const isForm = String(request.headers['content-type']).includes('form')
      const body = text === '' || isForm ? {} : (JSON.parse(text) as Record<string, unknown>)
      const { headers, method = 'GET' } = request
      const reply = answer(url.pathname, {
        query: url.searchParams,
        headers,
        body,
        form: new URLSearchParams(isForm ? text : ''),
        method,
      })
      response.writeHead(reply.status ?? 200, reply.headers).end(reply.bytes ?? JSON.stringify(reply.json ?? {}))
    })
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    return { server, origin: `http://127.0.0.1:${(server.address() as AddressInfo).port}` }
  }
  const main = await start(
    (path, given) => apis[path.split('/')[1] ?? '']?.(path, given, main.origin) ?? { status: 404 },
  )
  const files = await start((path, { headers }) => {
    if (headers.authorization !== 'Bearer canary-token') return unauthorized
    const bytes = filesOf[path]
    return bytes === undefined ? { status: 404 } : { bytes }
  })
  return {
    origin: main.origin,
    files: files.origin,
    close() {
      for (const { server } of [main, files]) {
        server.closeAllConnections()
        server.close()
      }
    },
  }
}
