import { createHash, randomBytes } from 'node:crypto'
import type http from 'node:http'
import { startBehindProxy } from './behind-proxy.ts'
import type { FailingProxy } from './failing-proxy.ts'

type Stored = { path: string; bytes: Buffer; rev: string; clientModified: string }
type Session = { bytes: Buffer; closed: boolean }

/**
 * A server that follows the published reference of version 2 of Dropbox's API, as far as files use it: tokens of a refresh
 * token, listings in pages, downloads with ranges, uploads and upload sessions with hashes, and paths without regard to
 * case. It refuses whatever it does not know.
 */
export type DropboxServer = {
  readonly proxy: FailingProxy
  readonly secrets: { readonly clientId: string; readonly clientSecret: string; readonly refreshToken: string }
  readonly routes: Readonly<Record<string, string>>
  /** By path in lower case, such as `/exports/a.csv`. */
  readonly files: Map<string, Stored>
  readonly sessions: Map<string, Session>
  /** Entries on a page at most. */
  pageSize: number
  /** Permissions of the app. */
  readonly scopes: Set<string>
  readonly tokensGiven: number
  /** Roots that requests named. */
  readonly roots: Set<string>
  expireTokens(): void
  put(path: string, body: Uint8Array | string): void
  close(): Promise<void>
}

export const testServerName = 'a server that follows the published reference of Dropbox'

class Refusal extends Error {
  readonly status: number
  readonly body: object
  constructor(status: number, body: object) {
    super(JSON.stringify(body))
    this.status = status
    this.body = body
  }
}

const conflict = (summary: string, error: object) => new Refusal(409, { error_summary: `${summary}/..`, error })
const lookup = (tag: string, more: object = {}, in_?: string) =>
  in_ === undefined
    ? conflict(tag, { '.tag': tag, ...more })
    : conflict(`${in_}/${tag}`, { '.tag': in_, [in_]: { '.tag': tag, ...more } })
const malformed = (text: string) => new Refusal(400, { text })

const requestBytesMax = 150 << 20
const blockBytes = 4 << 20
const sha256 = (bytes: Uint8Array) => createHash('sha256').update(bytes).digest()
const hashOf = (bytes: Buffer): string =>
  sha256(
    Buffer.concat(
      Array.from({ length: Math.ceil(bytes.length / blockBytes) }, (_, n) =>
        sha256(bytes.subarray(n * blockBytes, (n + 1) * blockBytes)),
      ),
    ),
  ).toString('hex')

type Args = Record<string, unknown>
type Reply = { status: number; headers: Record<string, string>; body: Buffer | string }
type Asked = { endpoint: string; args: Args; body: Buffer; range: string | undefined }

const json = (body: object | null): Reply => ({
  status: 200,
  headers: { 'content-type': 'application/json' },
  body: JSON.stringify(body),
})

export async function startDropbox(): Promise<DropboxServer> {
  const secrets = { clientId: 'app-key', clientSecret: 'app-secret-canary', refreshToken: 'refresh-canary' }
  const tokens = new Set<string>()
  const cursors = new Map<string, { names: string[]; folder: string; limit: number }>()
  const revisions = new Map<string, Stored>()
  let tokensGiven = 0
  let revision = 0x15f0000000

  const describe = (file: Stored) => ({
    '.tag': 'file',
    name: file.path.slice(file.path.lastIndexOf('/') + 1),
    path_lower: file.path.toLowerCase(),
    path_display: file.path,
    id: `id:${sha256(Buffer.from(file.path.toLowerCase())).toString('hex').slice(0, 22)}`,
    client_modified: file.clientModified,
    server_modified: '2026-01-31T00:00:00Z',
    rev: file.rev,
    size: file.bytes.length,
    is_downloadable: true,
    content_hash: hashOf(file.bytes),
  })

  function known<Name extends string>(args: Args, names: readonly Name[]): Partial<Record<Name, unknown>> {
    for (const name of Object.keys(args)) if (!names.includes(name as Name)) throw malformed(`unknown field '${name}'`)
    return args as Partial<Record<Name, unknown>>
  }

  function pathOf(path: unknown, top = false): string {
    if (typeof path !== 'string' || !/^(\/[^/]+)+$/.test(path)) {
      if (path === '' && top) return ''
      throw malformed(`path: '${path}' did not match pattern`)
    }
    return path.toLowerCase()
  }

  const isFolder = (path: string) => path === '' || [...server.files.keys()].some((each) => each.startsWith(`${path}/`))

  function save(path: unknown, bytes: Buffer, clientModified: unknown): object {
    const lower = pathOf(path)
    if (isFolder(lower)) throw conflict('path/conflict/folder', { '.tag': 'path' })
    for (let at = lower.indexOf('/', 1); at > 0; at = lower.indexOf('/', at + 1)) {
      if (server.files.has(lower.slice(0, at))) throw conflict('path/conflict/file_ancestor', { '.tag': 'path' })
    }
    if (clientModified !== undefined && !/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/.test(String(clientModified))) {
      throw malformed('client_modified')
    }
    const stored = {
      path: String(path),
      bytes,
      rev: (revision++).toString(16),
      clientModified: String(clientModified ?? '2026-01-31T00:00:00Z'),
    }
    server.files.set(lower, stored)
    revisions.set(stored.rev, stored)
    return describe(stored)
  }

  function may(scope: string): void {
    if (server.scopes.has(scope)) return
    const error = { '.tag': 'missing_scope', required_scope: scope }
    throw new Refusal(401, { error_summary: `missing_scope/${scope}/`, error })
  }

  function verified(args: Args, body: Buffer): void {
    if (body.length > requestBytesMax) throw new Refusal(413, {})
    if (args.content_hash !== undefined && args.content_hash !== hashOf(body)) {
      throw lookup('content_hash_mismatch')
    }
  }

  function sessionAt(args: Args, in_?: string): Session {
    const { session_id, offset } = known((args.cursor ?? {}) as Args, ['session_id', 'offset'])
    const session = server.sessions.get(String(session_id))
    if (!session) throw lookup('not_found', {}, in_)
    if (session.closed) throw lookup('closed', {}, in_)
    if (offset !== session.bytes.length) {
      throw lookup('incorrect_offset', { correct_offset: session.bytes.length }, in_)
    }
    return session
  }

  function listed(names: string[], folder: string, limit: number): Reply {
    const page = names.slice(0, Math.min(limit, server.pageSize))
    const rest = names.slice(page.length)
    const cursor = randomBytes(12).toString('base64url')
    cursors.set(cursor, { names: rest, folder, limit })
    const entries = page.map((path) => {
      const file = server.files.get(path)
      return file ? describe(file) : { '.tag': 'folder', name: path.slice(path.lastIndexOf('/') + 1), path_lower: path }
    })
    return json({ entries, cursor, has_more: rest.length > 0 })
  }

  function serve({ endpoint, args, body, range }: Asked): Reply {
    switch (endpoint) {
      case 'api/users/get_current_account':
        may('account_info.read')
        return json({
          account_id: 'dbid:1',
          root_info: { '.tag': 'team', root_namespace_id: '7', home_namespace_id: '1' },
        })
      case 'api/files/list_folder': {
        may('files.metadata.read')
        const { path, limit = 500 } = known(args, ['path', 'recursive', 'limit', 'include_non_downloadable_files'])
        const folder = pathOf(path, true)
        if (server.files.has(folder)) throw conflict('path/not_folder', { '.tag': 'path' })
        if (!isFolder(folder)) throw conflict('path/not_found', { '.tag': 'path' })
        const children = [...server.files.keys()]
          .filter((each) => each.startsWith(`${folder}/`))
          .map((each) => each.slice(0, `${each}/`.indexOf('/', folder.length + 1)))
        if (!(Number(limit) >= 1 && Number(limit) <= 2000)) throw malformed('limit')
        return listed([...new Set(children)], folder, Number(limit))
      }
      case 'api/files/list_folder/continue': {
        may('files.metadata.read')
        const at = cursors.get(String(known(args, ['cursor']).cursor))
        if (!at) throw lookup('reset')
        return listed(at.names, at.folder, at.limit)
      }
      case 'api/files/get_metadata': {
        may('files.metadata.read')
        const path = pathOf(known(args, ['path']).path)
        const file = server.files.get(path)
        if (file) return json(describe(file))
        if (isFolder(path)) return json({ '.tag': 'folder', name: path.slice(path.lastIndexOf('/') + 1) })
        throw conflict('path/not_found', { '.tag': 'path' })
      }
      case 'api/files/delete_v2': {
        may('files.content.write')
        const path = pathOf(known(args, ['path']).path)
        const gone = [...server.files.keys()].filter((each) => each === path || each.startsWith(`${path}/`))
        if (gone.length === 0) throw conflict('path_lookup/not_found', { '.tag': 'path_lookup' })
        for (const each of gone) server.files.delete(each)
        return json({ metadata: { '.tag': 'folder' } })
      }
      case 'content/files/download': {
        may('files.content.read')
        const { path } = known(args, ['path'])
        const rev = /^rev:([0-9a-f]{9,})$/.exec(String(path))?.[1]
        const file = rev === undefined ? server.files.get(pathOf(path)) : revisions.get(rev)
        if (!file) throw conflict('path/not_found', { '.tag': 'path' })
        const from = Number(/^bytes=(\d+)-$/.exec(range ?? '')?.[1] ?? 0)
        const { bytes } = file
        const part = range === undefined ? {} : { 'content-range': `bytes ${from}-${bytes.length - 1}/${bytes.length}` }
        const headers = {
          'content-type': 'application/octet-stream',
          'dropbox-api-result': JSON.stringify(describe(file)).replace(
            /[\u007f-\uffff]/g,
            (c) => `\\u${c.charCodeAt(0).toString(16).padStart(4, '0')}`,
          ),
          ...part,
        }
        return { status: range === undefined ? 200 : 206, headers, body: bytes.subarray(from) }
      }
      case 'content/files/upload': {
        may('files.content.write')
        const { path, mode, client_modified } = known(args, [...commitFields, 'content_hash'])
        if (mode !== 'overwrite') throw malformed('mode')
        verified(args, body)
        return json(save(path, body, client_modified))
      }
      case 'content/files/upload_session/start': {
        may('files.content.write')
        known(args, ['close', 'content_hash'])
        verified(args, body)
        const id = `pid_upload_session:${randomBytes(18).toString('base64url')}`
        server.sessions.set(id, { bytes: body, closed: args.close === true })
        return json({ session_id: id })
      }
      case 'content/files/upload_session/append_v2': {
        may('files.content.write')
        known(args, ['cursor', 'close', 'content_hash'])
        verified(args, body)
        const session = sessionAt(args)
        session.bytes = Buffer.concat([session.bytes, body])
        return json(null)
      }
      case 'content/files/upload_session/finish': {
        may('files.content.write')
        const { commit } = known(args, ['cursor', 'commit', 'content_hash'])
        const { path, mode, client_modified } = known((commit ?? {}) as Args, commitFields)
        if (mode !== 'overwrite') throw malformed('mode')
        verified(args, body)
        const session = sessionAt(args, 'lookup_failed')
        session.closed = true
        return json(save(path, Buffer.concat([session.bytes, body]), client_modified))
      }
      default:
        throw malformed(`Unknown API function: "${endpoint}"`)
    }
  }

  function give(body: Buffer): Reply {
    const form = Object.fromEntries(new URLSearchParams(String(body)))
    const { grant_type, client_id, client_secret, refresh_token } = form
    if (grant_type !== 'refresh_token') throw new Refusal(400, { error: 'unsupported_grant_type' })
    if (client_id !== secrets.clientId || client_secret !== secrets.clientSecret) {
      throw new Refusal(400, { error: 'invalid_client' })
    }
    if (refresh_token !== secrets.refreshToken) throw new Refusal(400, { error: 'invalid_grant' })
    const token = `sl.${randomBytes(24).toString('base64url')}`
    tokens.add(token)
    tokensGiven += 1
    return json({ access_token: token, token_type: 'bearer', expires_in: 14_400 })
  }

  function replyTo(request: http.IncomingMessage, body: Buffer): Reply {
    const { headers, url = '/', method } = request
    const host = /^(api|content)\.dropboxapi\.com$/.exec(headers.host ?? '')?.[1]
    if (host === 'api' && url === '/') return { status: 302, headers: { location: '/developers' }, body: '' }
    if (method !== 'POST' || host === undefined) throw new Refusal(404, {})
    if (host === 'api' && url === '/oauth2/token') return give(body)
    const token = /^Bearer (.+)$/.exec(headers.authorization ?? '')?.[1] ?? ''
    if (!tokens.has(token)) {
      throw new Refusal(401, {
        error_summary: 'expired_access_token/.',
        error: { '.tag': 'expired_access_token' },
      })
    }
    const root = headers['dropbox-api-path-root']
    if (root !== undefined) {
      const { '.tag': tag, root: id } = JSON.parse(String(root)) as Args
      if (tag !== 'root' || id !== '7') throw new Refusal(422, { error_summary: 'invalid_root/..' })
      server.roots.add(String(id))
    }
    const endpoint = `${host}${url.replace(/^\/2/, '')}`
    if (host === 'content') {
      if (/upload/.test(url) && headers['content-type'] !== 'application/octet-stream') throw malformed('content-type')
      const args = JSON.parse(String(headers['dropbox-api-arg'])) as Args
      return serve({ endpoint, args, body, range: headers.range })
    }
    if (headers['content-type'] !== 'application/json') throw malformed('content-type')
    return serve({ endpoint, args: (JSON.parse(String(body)) ?? {}) as Args, body, range: undefined })
  }

  const { proxy, close } = await startBehindProxy(
    ({ request, body }) => replyTo(request, body),
    (error) => (error instanceof Refusal ? { ...json(error.body), status: error.status } : undefined),
  )
  const server: DropboxServer = {
    proxy,
    secrets,
    routes: { 'https://api.dropboxapi.com': proxy.url, 'https://content.dropboxapi.com': proxy.url },
    files: new Map(),
    sessions: new Map(),
    pageSize: 500,
    scopes: new Set(['account_info.read', 'files.metadata.read', 'files.content.read', 'files.content.write']),
    get tokensGiven() {
      return tokensGiven
    },
    roots: new Set(),
    expireTokens: () => tokens.clear(),
    put: (path, body) => void save(path, Buffer.from(body), undefined),
    close,
  }
  return server
}

const commitFields = ['path', 'mode', 'autorename', 'mute', 'client_modified', 'strict_conflict'] as const
