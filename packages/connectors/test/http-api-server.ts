import http from 'node:http'
import type { AddressInfo } from 'node:net'

/** An API with every kind of page and sign-in. It refuses parameters that it does not know. */
export type ApiServer = {
  readonly origin: string
  /** Every request that was answered: its method, path and query. */
  readonly requests: string[]
  failure: { readonly status: number; readonly headers?: Record<string, string> } | 'hangs' | undefined
  hanging(): Promise<unknown>
  close(): void
}

/** Records of each list, of which a page has at most ten. */
export const people = Array.from({ length: 25 }, (_, index) => ({
  id: index + 1,
  name: `Person ${index + 1}`,
  address: { city: index % 2 ? 'Zürich' : null },
  tags: [`t${index}`],
}))

const tokens = new Set(['Bearer canary-token', 'Bearer granted', `Basic ${btoa('reader:canary-password')}`])
type Given = { readonly query: URLSearchParams; readonly body: Record<string, unknown>; readonly path: string }
type Reply = { readonly json: unknown; readonly status?: number; readonly headers?: Record<string, string> }

export async function startApiServer(): Promise<ApiServer> {
  let reportHang: (value?: unknown) => void = () => {}
  const server = http.createServer(async (request, response) => {
    let text = ''
    for await (const piece of request) text += piece
    const url = new URL(request.url ?? '', served.origin)
    served.requests.push(`${request.method} ${url.pathname}${url.search}`)
    if (served.failure === 'hangs') return reportHang()
    if (served.failure) return void response.writeHead(served.failure.status, served.failure.headers).end('<p>error')
    const { authorization, 'x-api-key': key } = request.headers
    const isIn = tokens.has(authorization ?? '') || (key ?? url.searchParams.get('key')) === 'canary-token'
    url.searchParams.delete('key')
    const form = new URLSearchParams(text)
    const reply: Reply =
      url.pathname === '/token'
        ? form.get('client_secret') === 'canary-secret'
          ? { json: { access_token: 'granted', token_type: 'bearer', refresh_token: 'canary-next' } }
          : { status: 401, json: { error: 'invalid_client' } }
        : !isIn && url.pathname !== '/'
          ? { status: 401, json: {} }
          : answer({
              path: url.pathname,
              query: url.searchParams,
              body: request.method === 'POST' ? JSON.parse(text) : {},
            })
    response.writeHead(reply.status ?? 200, { 'content-type': 'application/json', ...reply.headers })
    response.end(typeof reply.json === 'string' ? reply.json : JSON.stringify(reply.json))
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const served: ApiServer = {
    origin: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    requests: [],
    failure: undefined,
    hanging: () => new Promise((resolve) => (reportHang = resolve)),
    close: () => {
      server.closeAllConnections()
      server.close()
    },
  }

  function answer({ path, query, body }: Given): Reply {
    const from = (offset: number) => people.slice(offset, offset + 10)
    const at = Number(query.get('at') ?? body.at ?? 0)
    const following = at + 10 < people.length ? at + 10 : undefined
    switch (path) {
      case '/v1/pages':
        return { json: { data: { items: from((Number(query.get('page')) - 1) * Number(query.get('size'))) } } }
      case '/v1/offsets':
        return { json: from(Number(query.get('offset'))) }
      case '/v1/cursors':
        return { json: { items: from(at), meta: { next: following ?? null } } }
      case '/v1/posted':
        return { json: { items: from(at), asked: body }, headers: following ? { 'x-next': String(following) } : {} }
      case '/v1/links':
        return {
          json: from(at),
          headers: following ? { link: `</v1/links?at=0>; rel="first", </v1/links?at=${following}>; rel="next"` } : {},
        }
      case '/v1/addresses':
        return { json: { items: from(at), next: following ? `${served.origin}/v1/addresses?at=${following}` : '' } }
      case '/v1/elsewhere':
        return { json: { items: from(0), next: 'https://attacker.example.com/' } }
      case '/v1/endless':
        return { json: { items: from(0), meta: { next: 'same' } } }
      case '/v1/nested':
        return { json: { a: [{ list: from(0) }, { list: from(10) }], b: [{ list: from(20) }] } }
      case '/v1/digits':
        return { json: '[{"id":12345678901234567890,"price":1.10}]' }
      case '/v1/broken':
        return { json: '{"items":[' }
      case '/v1/throttled':
        return { json: { error: 'QUOTA' } }
      default: {
        const [, id] = /^\/v1\/people\/([^/]+)\/notes$/.exec(path) ?? []
        if (id === undefined) return { status: 404, json: { error: 'nothing here' } }
        return Number(id) % 2
          ? { json: [{ person: id, since: query.get('since'), until: query.get('until') }] }
          : { status: 404, json: {} }
      }
    }
  }
  return served
}
