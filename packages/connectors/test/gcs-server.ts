import { createHash } from 'node:crypto'
import { type Arrived, startBehindProxy } from './behind-proxy.ts'
import type { FailingProxy } from './failing-proxy.ts'
import { type GoogleAccounts, makeGoogleAccounts } from './google-accounts.ts'

/** An object as Google describes it. */
type Stored = { bytes: Buffer; generation: string; metadata?: Record<string, string>; contentType: string }

/**
 * A server that keeps to the rules of Google Cloud Storage, as far as its JSON interface is used: it verifies the
 * assertion of a service account, and each token, gives pages, keeps generations and their conditions, puts at most 32
 * objects together, and refuses whatever it does not know.
 */
export type GcsServer = {
  readonly proxy: FailingProxy
  /** The key file of a service account that may do everything, and one of another whose key was deleted. */
  readonly jsonKey: string
  readonly deletedKey: string
  readonly routes: Readonly<Record<string, string>>
  /** By bucket, then by name. */
  readonly buckets: Map<string, Map<string, Stored>>
  /** Objects on a page at most. */
  pageSize: number
  /** The permissions of the service account. */
  permissions: Set<string>
  /** How many tokens were given. */
  readonly tokensGiven: number
  /** From now on, no token that was given before is accepted. */
  expireTokens(): void
  put(bucket: string, name: string, body: Uint8Array | string): void
  close(): Promise<void>
}

export const testServerName = 'a server that keeps to the rules of Google Cloud Storage'

class Refusal extends Error {
  readonly status: number
  readonly reason: string
  constructor(status: number, reason: string, message = reason) {
    super(message)
    this.status = status
    this.reason = reason
  }
}

/** @param accounts that give its tokens; its own unless given */
export async function startGcsServer(
  buckets: readonly string[],
  accounts: GoogleAccounts = makeGoogleAccounts(['devstorage.read_write', 'cloud-platform']),
): Promise<GcsServer> {
  const { email } = accounts
  const { proxy, close } = await startBehindProxy(
    (asked) => {
      if (asked.url.host === 'oauth2.googleapis.com' || asked.url.pathname === '/token') {
        return accounts.give(asked.request, asked.body)
      }
      if ([new URL(proxy.url).host, 'storage.googleapis.com'].includes(asked.url.host)) return serve(asked)
      throw new Refusal(404, 'notFound')
    },
    (error) => {
      if (!(error instanceof Refusal)) return undefined
      const { status, reason, message } = error
      return reply(status, { error: { code: status, message, errors: [{ domain: 'global', reason, message }] } })
    },
  )

  function serve(asked: Arrived): Reply {
    const { request, url } = asked
    if (url.pathname === '/') return reply(400, {})
    const token = /^Bearer (.+)$/.exec(request.headers.authorization ?? '')?.[1] ?? ''
    if (!accounts.accepts(token)) throw new Refusal(401, 'authError', 'Invalid Credentials')
    const [, upload, bucket = '', rest = ''] = /^(\/upload)?\/storage\/v1\/b\/([^/]+)(\/.*)$/.exec(url.pathname) ?? []
    const objects = server.buckets.get(decodeURIComponent(bucket))
    if (bucket === '') throw new Refusal(404, 'notFound')
    if (!objects) throw new Refusal(404, 'notFound', 'The specified bucket does not exist.')
    const [, path = ''] = /^\/o\/([^/]+)$/.exec(rest) ?? []
    const [, composed = ''] = /^\/o\/([^/]+)\/compose$/.exec(rest) ?? []
    switch (`${request.method} ${upload ?? ''}${rest.replace(path || composed || ' ', '*')}`) {
      case 'GET /o':
        return list(asked, objects)
      case 'GET /iam/testPermissions': {
        const permissions = url.searchParams.getAll('permissions').filter((each) => server.permissions.has(each))
        return reply(200, permissions.length > 0 ? { permissions } : {})
      }
      case 'POST /upload/o':
        return create(asked, objects)
      case 'GET /o/*':
        return get(asked, objects, decodeURIComponent(path))
      case 'DELETE /o/*':
        may('storage.objects.delete')
        known(url, [])
        if (!objects.delete(decodeURIComponent(path))) throw new Refusal(404, 'notFound', 'No such object')
        return { status: 204, headers: {}, body: '' }
      case 'POST /o/*/compose':
        return compose(asked, objects, decodeURIComponent(composed))
      default:
        throw new Refusal(404, 'notFound')
    }
  }

  function may(permission: string): void {
    if (!server.permissions.has(permission)) throw new Refusal(403, 'forbidden', `${email} does not have ${permission}`)
  }

  function list({ url }: Arrived, objects: Map<string, Stored>): Reply {
    may('storage.objects.list')
    const {
      prefix = '',
      delimiter,
      maxResults = '1000',
      pageToken,
    } = known(url, ['prefix', 'delimiter', 'maxResults', 'pageToken', 'fields'])
    const after = pageToken === undefined ? '' : Buffer.from(pageToken, 'base64url').toString()
    const names = [...objects.keys()].filter((name) => name.startsWith(prefix))
    const entryOf = (name: string) => {
      const end = delimiter === undefined ? -1 : name.indexOf(delimiter, prefix.length)
      return end < 0 ? name : name.slice(0, end + 1)
    }
    const entries = [...new Set(names.map(entryOf))].filter((entry) => entry > after).sort()
    const page = entries.slice(0, Math.min(Number(maxResults), server.pageSize))
    // A page that contains only folders has no items.
    const isFolder = (entry: string) => delimiter !== undefined && entry.indexOf(delimiter, prefix.length) >= 0
    const items = page.filter((entry) => !isFolder(entry))
    const prefixes = page.filter(isFolder)
    return reply(200, {
      ...(items.length > 0 ? { items: items.map((name) => describe(name, objects)) } : {}),
      ...(prefixes.length > 0 ? { prefixes } : {}),
      ...(entries.length > page.length ? { nextPageToken: Buffer.from(page.at(-1) ?? '').toString('base64url') } : {}),
    })
  }

  function create({ request, url, body }: Arrived, objects: Map<string, Stored>): Reply {
    may('storage.objects.create')
    const { uploadType, name = '' } = known(url, ['uploadType', 'name', 'fields'])
    if (uploadType !== 'media' || name === '') throw new Refusal(400, 'required')
    const contentType = String(request.headers['content-type'])
    objects.set(name, { bytes: body, generation: nextGeneration(), contentType })
    return reply(200, describe(name, objects))
  }

  function get({ request, url }: Arrived, objects: Map<string, Stored>, name: string): Reply {
    may('storage.objects.get')
    const { alt, ifGenerationMatch } = known(url, ['alt', 'ifGenerationMatch', 'fields'])
    const object = objects.get(name)
    if (!object) throw new Refusal(404, 'notFound', `No such object: ${name}`)
    if (ifGenerationMatch !== undefined && ifGenerationMatch !== object.generation) {
      throw new Refusal(412, 'conditionNotMet', 'At least one of the pre-conditions you specified did not hold.')
    }
    if (alt !== 'media') return reply(200, describe(name, objects))
    const from = Number(/^bytes=(\d+)-$/.exec(request.headers.range ?? '')?.[1] ?? 0)
    const { bytes } = object
    if (from >= bytes.length) throw new Refusal(416, 'requestedRangeNotSatisfiable')
    const range = request.headers.range ? { 'content-range': `bytes ${from}-${bytes.length - 1}/${bytes.length}` } : {}
    const headers = { 'content-type': object.contentType, ...range }
    return { status: request.headers.range ? 206 : 200, headers, body: bytes.subarray(from) }
  }

  function compose({ request, url, body }: Arrived, objects: Map<string, Stored>, name: string): Reply {
    may('storage.objects.create')
    may('storage.objects.get')
    if (objects.has(name)) may('storage.objects.delete')
    known(url, [])
    if (request.headers['content-type'] !== 'application/json') throw new Refusal(400, 'parseError')
    const { sourceObjects, destination = {} } = JSON.parse(String(body)) as {
      sourceObjects: { name: string; generation?: string }[]
      destination?: Partial<Stored>
    }
    if (sourceObjects.length < 1 || sourceObjects.length > 32) throw new Refusal(400, 'invalid')
    const sources = sourceObjects.map((source) => {
      const object = objects.get(source.name)
      if (!object || (source.generation ?? object.generation) !== object.generation) {
        throw new Refusal(404, 'notFound', `Object ${source.name} (generation: ${source.generation}) not found.`)
      }
      return object.bytes
    })
    const { contentType = 'application/octet-stream', metadata } = destination
    const made = { bytes: Buffer.concat(sources), generation: nextGeneration(), contentType }
    objects.set(name, { ...made, ...(metadata ? { metadata } : {}) })
    // Objects that were put together have no MD5.
    return reply(200, { ...describe(name, objects), md5Hash: undefined })
  }

  const server: GcsServer = {
    proxy,
    jsonKey: accounts.jsonKey,
    deletedKey: accounts.deletedKey,
    routes: { 'https://storage.googleapis.com': proxy.url, 'https://oauth2.googleapis.com': proxy.url },
    buckets: new Map(buckets.map((bucket) => [bucket, new Map()])),
    pageSize: 1000,
    get tokensGiven() {
      return accounts.tokensGiven
    },
    permissions: new Set(['list', 'get', 'create', 'delete'].map((verb) => `storage.objects.${verb}`)),
    expireTokens: () => accounts.expireTokens(),
    put(bucket, name, body) {
      const bytes = Buffer.from(body)
      server.buckets.get(bucket)?.set(name, { bytes, generation: nextGeneration(), contentType: 'text/csv' })
    },
    close,
  }
  return server
}

let generation = 1_700_000_000_000_000
const nextGeneration = (): string => String(generation++)

function describe(name: string, objects: Map<string, Stored>): object {
  const object = objects.get(name)
  const { bytes = Buffer.alloc(0), contentType, metadata } = object ?? {}
  const md5Hash = createHash('md5').update(bytes).digest('base64')
  return {
    kind: 'storage#object',
    name,
    size: String(bytes.length),
    generation: object?.generation,
    contentType,
    md5Hash,
    ...(metadata ? { metadata } : {}),
  }
}

/** The parameters of a query, none of them but these. */
function known<Name extends string>(url: URL, names: readonly Name[]): Partial<Record<Name, string>> {
  for (const name of url.searchParams.keys()) {
    if (!names.some((each) => each === name)) throw new Refusal(400, 'invalidParameter', `${name} is not known here`)
  }
  return Object.fromEntries(url.searchParams) as Partial<Record<Name, string>>
}

type Reply = { status: number; headers: Record<string, string>; body: Buffer | string }

const reply = (status: number, body: object): Reply => ({
  status,
  headers: { 'content-type': 'application/json; charset=UTF-8' },
  body: JSON.stringify(body),
})
