import { randomUUID } from 'node:crypto'
import type http from 'node:http'
import { startBehindProxy } from './behind-proxy.ts'
import { type DatabricksStorage, loadMacros, makeDatabricksLoads, translateLoaded } from './databricks-loads.ts'
import type { FailingProxy } from './failing-proxy.ts'
import { type TrustedIssuer, verifyToken } from './federation.ts'
import { type EngineResult, startEngine } from './warehouse-engine.ts'

/**
 * A server that keeps to the rules of Databricks' REST interface, with DuckDB to run the statements: tokens of service
 * principals, files in volumes, statements that are polled, COPY INTO that loads a path once, and the catalog.
 */
export type DatabricksServer = {
  readonly proxy: FailingProxy
  readonly routes: Readonly<Record<string, string>>
  readonly secrets: Readonly<Record<string, string>>
  /** Statements that were run, in order. */
  readonly executed: string[]
  /** Statements that were cancelled. */
  readonly cancelled: string[]
  /** Paths in the volume, with their content. */
  readonly files: Map<string, string>
  /** How often a statement answers that it still runs. */
  polls: number
  /** The bucket that files are read from; none unless given. */
  storage: DatabricksStorage | undefined
  /** The federation policy of the service principal `client-1`. */
  policy:
    | { readonly trusted: TrustedIssuer; readonly audiences: readonly string[]; readonly subject: string }
    | undefined
  /** Called before a statement runs. */
  before: ((statement: string) => unknown) | undefined
  run(statement: string): Promise<EngineResult>
  /** From now on, no result of a statement is kept that ran before. */
  forgetResults(): void
  /** From now on, no token that was given before is accepted. */
  expireTokens(): void
  close(): Promise<void>
}

export const testServerName = 'a server that keeps to the rules of Databricks, with DuckDB behind it'

const host = 'dbc-a1b2345c-d6e7.cloud.databricks.com'
/** The cloud storage that results are in. */
const storage = 'results.storage.example.com'
const partRows = 2_500
const volume = '/Volumes/main/crm/landing/'

class Refusal extends Error {
  readonly status: number
  readonly code: string
  constructor(status: number, code: string, message = code) {
    super(message)
    this.status = status
    this.code = code
  }
}

type Statement = {
  pollsLeft: number
  rows?: EngineResult['rows']
  result?: EngineResult
  error?: { error_code: string; message: string }
}

const json = (lines: string): string => `[${lines.trimEnd().split('\n').join(',')}]`
/** Texts of the lines of a file, under the keys that the statement reads. @param number of the parameter */
const rowsOf = (text: string, number = 1): string => {
  const keys = [...new Set(text.match(/\b(c\d+|n|removed)\b/g) ?? [])]
    .map((key) => `j ->> '${key}' as ${key}`)
    .join(', ')
  return `(select ${keys} from (select unnest(cast($${number} as json)::json[]) as j))`
}
const translate = (text: string): string =>
  translateLoaded(text)
    .replaceAll('`main`.', '')
    .replaceAll('`', '"')
    .replace(/as TIMESTAMP_NTZ\)/g, 'as TIMESTAMP)')
    .replace(/unbase64\(/g, 'from_base64(')

export async function startDatabricksServer(): Promise<DatabricksServer> {
  const engine = await startEngine(['create schema crm', ...macros, ...loadMacros])
  const statements = new Map<string, Statement>()
  const loaded = new Set<string>()
  let tokens = new Set<string>()
  const files = new Map<string, string>()
  const loads = makeDatabricksLoads(engine, files, loaded, translate, () => server.storage)

  type Reply = { status: number; body: object }
  const send = (status: number, body: object) => ({
    status,
    headers: { 'content-type': 'application/json' },
    body: status === 204 ? '' : JSON.stringify(body),
  })
  const { proxy, close } = await startBehindProxy(
    async ({ request, url, body: sent }) => {
      const { status, body } = await replyTo(request, url, String(sent))
      return send(status, body)
    },
    (error) =>
      error instanceof Refusal ? send(error.status, { error_code: error.code, message: error.message }) : undefined,
  )

  async function replyTo(request: http.IncomingMessage, url: URL, text: string): Promise<Reply> {
    if (url.host === storage) return onStorage(request, url)
    if (url.host !== host) throw new Refusal(404, 'NOT_FOUND')
    const { method = 'GET', headers } = request
    if (url.pathname === '/') return { status: 200, body: {} }
    if (url.pathname === '/oidc/v1/token') return giveToken(headers, new URLSearchParams(text))
    const token = /^Bearer (.+)$/.exec(headers.authorization ?? '')?.[1] ?? ''
    if (!tokens.has(token) && token !== server.secrets.accessToken) throw new Refusal(401, 'UNAUTHENTICATED')
    if (url.pathname === '/api/2.0/preview/scim/v2/Me') return { status: 200, body: { displayName: 'Mover' } }
    if (url.pathname.startsWith('/api/2.0/fs/files/')) return onFile(method, url, headers, text)
    if (url.pathname.startsWith('/api/2.0/fs/directories/')) return onFolder(method, url)
    if (url.pathname === '/api/2.0/sql/statements' && method === 'POST') return submit(JSON.parse(text))
    const [, id] = /^\/api\/2\.0\/sql\/statements\/([\w-]+)$/.exec(url.pathname) ?? []
    if (id !== undefined && method === 'GET') return stateOf(id)
    const [, ofPart, part] = /^\/api\/2\.0\/sql\/statements\/([\w-]+)\/result\/chunks\/(\d+)$/.exec(url.pathname) ?? []
    if (ofPart !== undefined && method === 'GET') return linkOf(ofPart, Number(part))
    const [, cancelled] = /^\/api\/2\.0\/sql\/statements\/([\w-]+)\/cancel$/.exec(url.pathname) ?? []
    if (cancelled !== undefined && method === 'POST') {
      server.cancelled.push(cancelled)
      return { status: 200, body: {} }
    }
    if (method !== 'GET') throw new Refusal(405, 'METHOD_NOT_ALLOWED')
    if (url.pathname === '/api/2.0/sql/warehouses') {
      return { status: 200, body: { warehouses: [{ id: 'wh1', name: 'Loader', state: 'STOPPED' }] } }
    }
    return catalog(url)
  }

  async function giveToken(headers: http.IncomingHttpHeaders, form: URLSearchParams): Promise<Reply> {
    if (form.get('grant_type') === 'urn:ietf:params:oauth:grant-type:token-exchange') return exchangeToken(form)
    const isClient = headers.authorization === `Basic ${Buffer.from('client-1:secret-1').toString('base64')}`
    if (!isClient) return { status: 401, body: { error: 'invalid_client' } }
    if (form.get('grant_type') !== 'client_credentials' || form.get('scope') !== 'all-apis') {
      return { status: 400, body: { error: 'invalid_request' } }
    }
    return given()
  }

  function given(): Reply {
    const token = `eyJ.${randomUUID()}`
    tokens.add(token)
    return { status: 200, body: { access_token: token, token_type: 'Bearer', expires_in: 3600, scope: 'all-apis' } }
  }

  /** The service principal client-1 has one federation policy. */
  async function exchangeToken(form: URLSearchParams): Promise<Reply> {
    const { policy } = server
    const isJwt = form.get('subject_token_type') === 'urn:ietf:params:oauth:token-type:jwt'
    if (!policy || !isJwt || form.get('client_id') !== 'client-1' || form.get('scope') !== 'all-apis') {
      return { status: 400, body: { error: 'invalid_request' } }
    }
    const token = form.get('subject_token') ?? ''
    const verified = await verifyToken(token, policy.trusted, policy.audiences)
    if ('problem' in verified || verified.subject !== policy.subject) {
      return { status: 401, body: { error: 'invalid_grant', error_description: `canary ${token}` } }
    }
    return given()
  }

  function onFile(method: string, url: URL, headers: http.IncomingHttpHeaders, text: string): Reply {
    const path = decodeURIComponent(url.pathname.slice('/api/2.0/fs/files'.length))
    if (!path.startsWith(volume)) throw new Refusal(404, 'NOT_FOUND', 'No such volume')
    if (method === 'PUT') {
      if (headers['content-type'] !== 'application/octet-stream') throw new Refusal(415, 'INVALID_PARAMETER_VALUE')
      if (server.files.has(path) && url.search !== '?overwrite=true') throw new Refusal(409, 'ALREADY_EXISTS')
      server.files.set(path, text)
      return { status: 204, body: {} }
    }
    if (method === 'GET') {
      const content = server.files.get(path)
      if (content === undefined) throw new Refusal(404, 'NOT_FOUND')
      return { status: 200, body: JSON.parse(content) }
    }
    if (method !== 'DELETE') throw new Refusal(405, 'METHOD_NOT_ALLOWED')
    if (!server.files.delete(path)) throw new Refusal(404, 'NOT_FOUND')
    return { status: 204, body: {} }
  }

  /** Folders are the paths of their files. */
  function onFolder(method: string, url: URL): Reply {
    const folder = decodeURIComponent(url.pathname.slice('/api/2.0/fs/directories'.length))
    const inside = [...files.keys()].filter((path) => path.startsWith(`${folder}/`))
    if (method === 'DELETE') {
      if (inside.length > 0) throw new Refusal(400, 'DIRECTORY_IS_NOT_EMPTY')
      return { status: 204, body: {} }
    }
    if (inside.length === 0) throw new Refusal(404, 'NOT_FOUND')
    const contents = [...new Set(inside.map((path) => path.slice(folder.length + 1).split('/')[0]))].map((name) => ({
      path: `${folder}/${name}`,
      name,
      is_directory: !files.has(`${folder}/${name}`),
      last_modified: Date.now(),
    }))
    return { status: 200, body: { contents } }
  }

  async function submit(body: Record<string, unknown>): Promise<Reply> {
    const { warehouse_id, statement, ...how } = body
    const { disposition } = how
    const isRead = typeof statement === 'string' && statement.startsWith('select ')
    const expected = {
      wait_timeout: isRead ? '5s' : '30s',
      on_wait_timeout: 'CONTINUE',
      disposition,
      format: 'JSON_ARRAY',
    }
    if (JSON.stringify(how) !== JSON.stringify(expected) || typeof statement !== 'string') {
      throw new Refusal(400, 'INVALID_PARAMETER_VALUE')
    }
    if (warehouse_id !== 'wh1') throw new Refusal(404, 'NOT_FOUND', `warehouse ${warehouse_id} was not found`)
    const id = randomUUID()
    server.executed.push(statement)
    await server.before?.(statement)
    try {
      if (isRead) {
        const result = await engine.run(translateSelect(statement))
        statements.set(id, {
          pollsLeft: server.polls,
          result,
          ...(disposition === 'INLINE' ? { rows: result.rows } : {}),
        })
      } else if (disposition === 'INLINE') {
        statements.set(id, { pollsLeft: server.polls, rows: await execute(statement) })
      } else throw new Error('Parser Error: no rows')
    } catch (error) {
      statements.set(id, { pollsLeft: server.polls, error: errorOf(String(error)) })
    }
    return stateOf(id)
  }

  function stateOf(id: string): Reply {
    const statement = statements.get(id)
    if (!statement) throw new Refusal(404, 'NOT_FOUND')
    if (statement.pollsLeft-- > 0) return { status: 200, body: { statement_id: id, status: { state: 'PENDING' } } }
    const { error, rows = [], result: read } = statement
    if (error) return { status: 200, body: { statement_id: id, status: { state: 'FAILED', error } } }
    if (read) {
      const columns = read.columns.map(({ name, type }, position) => ({
        name,
        type_text: typeOf(type).toUpperCase(),
        position,
      }))
      const parts = Math.ceil(read.rows.length / partRows)
      const manifest = {
        format: 'JSON_ARRAY',
        schema: { columns },
        total_chunk_count: parts,
        total_row_count: read.rows.length,
        truncated: false,
      }
      const result = statement.rows ? { row_count: rows.length, data_array: rows } : {}
      return { status: 200, body: { statement_id: id, status: { state: 'SUCCEEDED' }, manifest, result } }
    }
    const result = { row_count: rows.length, data_array: rows }
    return { status: 200, body: { statement_id: id, status: { state: 'SUCCEEDED' }, result } }
  }

  function linkOf(id: string, part: number): Reply {
    const { length = 0 } = statements.get(id)?.result?.rows ?? []
    if (part * partRows >= length) throw new Refusal(404, 'NOT_FOUND')
    const link = {
      chunk_index: part,
      external_link: `https://${storage}/${id}/${part}?signature=s1`,
      http_headers: { 'x-key': 'k1' },
      ...((part + 1) * partRows < length ? { next_chunk_index: part + 1 } : {}),
    }
    return { status: 200, body: { external_links: [link] } }
  }

  /** The storage knows no token, and refuses who sends one. */
  function onStorage({ headers }: http.IncomingMessage, url: URL): Reply {
    const [, id = '', part] = url.pathname.split('/')
    if (headers.authorization !== undefined || headers['x-key'] !== 'k1' || url.search !== '?signature=s1') {
      throw new Refusal(403, 'AccessDenied')
    }
    const first = Number(part) * partRows
    return { status: 200, body: statements.get(id)?.result?.rows.slice(first, first + partRows) ?? [] }
  }

  async function execute(text: string): Promise<EngineResult['rows']> {
    const copy =
      /^copy into (\S+) from \(select (.+) from '([^']+)'\) fileformat = json format_options \('primitivesAsString' = 'true', 'mode' = 'FAILFAST'\)$/.exec(
        text,
      )
    if (copy) {
      const [, table = '', values = '', path = ''] = copy
      if (loaded.has(path)) return [['0', '0', '0']]
      const lines = contentOf(path)
      const names = [...values.matchAll(/ as `([^`]+)`/g)].map(([, name]) => `"${name}"`).join(', ')
      await engine.run(
        `insert into ${translate(table)} (${names}) select ${translate(values)} from ${rowsOf(values)}`,
        [json(lines)],
      )
      loaded.add(path)
      const count = String(lines.trimEnd().split('\n').length)
      return [[count, count, '0']]
    }
    if (text.startsWith('merge into')) {
      const files: string[] = []
      const from = /read_files\('([^']+)', format => 'json', schema => '[\w, ]+', mode => 'FAILFAST'\)/g
      const bare = text.replace(from, '')
      const read = text.replace(from, (_, path: string) => rowsOf(bare, files.push(json(contentOf(path)))))
      return (await engine.run(translate(read), files)).rows
    }
    const done = await loads.run(text)
    if (done) return done
    if (!/^(create table|create or replace table|drop table if exists|truncate table|delete from) /.test(text))
      throw new Error('Parser Error: another statement')
    return (await engine.run(translate(text))).rows
  }

  function contentOf(path: string): string {
    const content = server.files.get(path)
    if (content === undefined) throw new Error('PATH_NOT_FOUND')
    return content
  }

  async function catalog({ pathname, searchParams }: URL): Promise<Reply> {
    const [, what = '', name] = /^\/api\/2\.1\/unity-catalog\/(\w+)(?:\/(.+))?$/.exec(pathname) ?? []
    if (what === 'schemas' && name !== undefined) {
      if (decodeURIComponent(name) !== 'main.crm') throw new Refusal(404, 'SCHEMA_DOES_NOT_EXIST')
      return { status: 200, body: { name: 'crm' } }
    }
    if (what === 'tables' && name !== undefined) return describeTable(decodeURIComponent(name))
    const { catalog_name, schema_name } = Object.fromEntries(searchParams)
    if (what === 'catalogs') return { status: 200, body: { catalogs: [{ name: 'main' }] } }
    if (catalog_name !== 'main') throw new Refusal(404, 'CATALOG_DOES_NOT_EXIST')
    if (what === 'schemas') return { status: 200, body: { schemas: [{ name: 'crm' }] } }
    if (schema_name !== 'crm') throw new Refusal(404, 'SCHEMA_DOES_NOT_EXIST')
    if (what === 'volumes') return { status: 200, body: { volumes: [{ name: 'landing' }] } }
    if (what !== 'tables') throw new Refusal(404, 'ENDPOINT_NOT_FOUND')
    const { rows } = await engine.run(`select table_name from information_schema.tables order by 1`)
    return { status: 200, body: { tables: rows.map(([table]) => ({ name: table })) } }
  }

  async function describeTable(name: string): Promise<Reply> {
    const [catalogName, schema, table = ''] = name.split('.')
    if (catalogName !== 'main') throw new Refusal(404, 'CATALOG_DOES_NOT_EXIST')
    if (schema !== 'crm') throw new Refusal(404, 'SCHEMA_DOES_NOT_EXIST')
    const { rows } = await engine.run(
      `select column_name, data_type, is_nullable from information_schema.columns where table_name = $1 order by ordinal_position`,
      [table],
    )
    if (rows.length === 0) throw new Refusal(404, 'TABLE_DOES_NOT_EXIST')
    const columns = rows.map(([column, type, nullable], position) => ({
      name: column,
      type_text: typeOf(type ?? ''),
      nullable: nullable === 'YES',
      position,
    }))
    return { status: 200, body: { name: table, table_type: 'MANAGED', data_source_format: 'DELTA', columns } }
  }

  const server: DatabricksServer = {
    proxy,
    routes: { [`https://${host}`]: proxy.url, [`https://${storage}`]: proxy.url },
    secrets: { host, authType: 'service-principal', clientId: 'client-1', clientSecret: 'secret-1' },
    executed: [],
    cancelled: [],
    files,
    polls: 0,
    storage: undefined,
    before: undefined,
    policy: undefined,
    run: (statement) => engine.run(statement),
    forgetResults() {
      statements.clear()
    },
    expireTokens() {
      tokens = new Set()
    },
    async close() {
      await close()
      engine.close()
    },
  }
  return server
}

/** Functions of Databricks. */
const macros = [
  'create macro unix_micros(x) as epoch_us(x)',
  'create macro timestamp_micros(x) as make_timestamp(x)',
  'create macro sha2(x, bits) as sha256(x)',
  'create macro json_text(x) as cast(to_json(x) as varchar)',
]

const translateSelect = (text: string): string =>
  translate(text).replaceAll('to_json(array(', 'json_text(list_value(').replaceAll('current_timestamp()', 'now()')

/** How Databricks writes a type of DuckDB. */
function typeOf(type: string): string {
  const names = { INTEGER: 'int', VARCHAR: 'string', BLOB: 'binary', TIMESTAMP: 'timestamp_ntz' }
  return names[type as keyof typeof names] ?? type.toLowerCase()
}

/** Converts an error of DuckDB to one of Databricks, values of rows included. */
function errorOf(error: string): { error_code: string; message: string } {
  const condition = error.includes('NOT NULL constraint')
    ? 'DELTA_NOT_NULL_CONSTRAINT_VIOLATED'
    : error.includes('Conversion Error')
      ? 'CAST_INVALID_INPUT'
      : error.includes('CHECK constraint')
        ? 'DELTA_VIOLATE_CONSTRAINT_WITH_VALUES'
        : error.includes('Catalog Error')
          ? 'TABLE_OR_VIEW_NOT_FOUND'
          : 'PARSE_SYNTAX_ERROR'
  return { error_code: 'BAD_REQUEST', message: `[${condition}] ${error}` }
}
