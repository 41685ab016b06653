import { createHash, generateKeyPairSync, randomUUID, verify } from 'node:crypto'
import type http from 'node:http'
import { gzipSync } from 'node:zlib'
import { startBehindProxy } from './behind-proxy.ts'
import type { FailingProxy } from './failing-proxy.ts'
import { loadMacros, makeSnowflakeLoads, type SnowflakeStorage, translateLoad } from './snowflake-loads.ts'
import { mergeResultOf, rawOf, typeOf } from './snowflake-values.ts'
import { type EngineResult, startEngine } from './warehouse-engine.ts'

/** A result as Snowflake keeps it. */
type Kept = { rowType: object[]; rows: (string | null)[][]; pollsLeft: number; gone: boolean; failed?: Refusal }

/**
 * A server that keeps to the rules of Snowflake's SQL API, version 2, with DuckDB to run the statements: it verifies
 * tokens with the public key of the user, takes only what the API knows, answers statements at once or later, runs a
 * request that is repeated only once, and gives results in partitions, all but the first compressed.
 */
export type SnowflakeServer = {
  readonly proxy: FailingProxy
  readonly routes: Readonly<Record<string, string>>
  /** Secrets with which one signs in: by key pair, and by programmatic access token. */
  readonly keyPair: Readonly<Record<string, string>>
  readonly accessToken: Readonly<Record<string, string>>
  readonly oauth: Readonly<Record<string, string>>
  /** A private key that no user has. */
  readonly strangeKey: string
  /** Statements that were run, in order. */
  readonly executed: string[]
  readonly cancelled: string[]
  /** Partitions that were given, as `handle?partition`. */
  readonly given: string[]
  /** Tokens that were seen, each once. */
  readonly tokens: Set<string>
  /** Rows in a partition. */
  partitionRows: number
  /** How often a statement answers that it still runs. */
  polls: number
  /** The bucket that COPY reads; none unless given. */
  storage: SnowflakeStorage | undefined
  /** Called before a statement runs. */
  before: ((statement: string) => unknown) | undefined
  /** Fixed answers for statements that match, in place of those of DuckDB. */
  canned: { readonly match: RegExp; readonly rowType: object[]; readonly rows: (string | null)[][] }[]
  run(statement: string): Promise<EngineResult>
  /** From now on, results that were made before are not kept any more. */
  forgetResults(): void
  /** From now on, no token that was seen before is accepted. */
  expireTokens(): void
  close(): Promise<void>
}

export const testServerName = 'a server that keeps to the rules of Snowflake, with DuckDB behind it'

class Refusal extends Error {
  readonly status: number
  readonly body: object
  constructor(status: number, code: string, message: string, sqlState?: string) {
    super(message)
    this.status = status
    this.body = { code, message, ...(sqlState === undefined ? {} : { sqlState, statementHandle: randomUUID() }) }
  }
}

const { publicKey, privateKey } = generateKeyPairSync('rsa', { modulusLength: 2048 })
const strangeKey = generateKeyPairSync('rsa', { modulusLength: 2048 }).privateKey
const pem = (key: typeof privateKey) => key.export({ type: 'pkcs8', format: 'pem' }).toString()
const digest = createHash('sha256')
  .update(publicKey.export({ type: 'spki', format: 'der' }))
  .digest('base64')
const subject = 'ACME-WEST.MOVER'
const accessToken = 'eyJraWQiOiIxIn0.a-programmatic-access-token.of-mover'
const refreshToken = 'a-refresh-token-of-mover'
const host = 'acme-west.snowflakecomputing.com'

/** Functions of Snowflake, as far as connectors use them. */
const macros = [
  `attach ':memory:' as "SALES"`,
  'create schema "SALES"."PUBLIC"',
  'create macro to_varchar(x) as x::varchar',
  'create macro sha2(x, bits) as sha256(x::varchar)',
  'create macro to_variant(x) as x',
  'create macro hex_encode(x) as hex(x)',
  'create macro to_number(x, p, s) as x::decimal(38, 9)',
  'create macro to_boolean(x) as x::boolean',
  'create macro to_date(x, f) as x::date',
  'create macro to_time(x, f) as x::time',
  'create macro to_timestamp_ntz(x, f) as left(x, 26)::timestamp',
  `create macro to_binary(x, f) as unhex(x)`,
  'create macro to_double(x) as x::double',
  'create macro sysdate() as current_timestamp::timestamp',
  'create macro get(x, i) as json_extract(x, i)',
  `create macro as_varchar(x) as (x ->> '$')`,
]

const flattened =
  '(select unnest(x) as value, unnest(range(len(x))) as index from (select cast(? as json)::json[] as x))'

/** An INSERT into two tables, in the one form that is known here. */
const insertAll =
  /^insert all\s+when (1 = 1|k = 1) then into (\S+) \(([^()]+)\) values \(([\w, ]+)\)\s+when ([nk] = 0) then into (\S+) \(([^()]+)\) values \(([\w, ]+)\)\s+(select .*)$/s

/** The same statement for DuckDB. */
const translate = (text: string): string =>
  translateLoad(text)
    .replaceAll(' timestamp_ntz', ' timestamp')
    .replaceAll('table(flatten(input => parse_json(?)))', flattened)
    .replace(/table\(flatten\(input => parse_json\((w\."KEYS")\)\)\)/, '(select unnest($1::json::json[]) as value)')
    .replace(/to_date\((\?|\w+\([^()]*\([^()]*\)\))\)/g, '$1::date')
    .replace(/to_time\((\?|\w+\([^()]*\([^()]*\)\))\)/g, '$1::time')
    .replace(/to_timestamp_ntz\((\?|\w+\([^()]*\([^()]*\)\))\)/g, '$1::timestamp')
    .replace(/dateadd\(day, -(\d+), sysdate\(\)\)/g, `(sysdate() - interval $1 day)`)
    .replaceAll('array_construct(', 'list_value(')
    .replace(/dateadd\(second, -(\d+), sysdate\(\)\)/g, `(current_timestamp::timestamp - interval $1 second)`)
    .replace(
      /to_varchar\(("[^,()]+"|\(current[^,]+\)), 'YYYY-MM-DD"T"HH24:MI:SS\.FF9'\)/g,
      `strftime($1, '%Y-%m-%dT%H:%M:%S.%n')`,
    )
    .replace(/to_varchar\(("[^,]+"), '[^']+'\)/g, '$1::varchar')

export async function startSnowflakeServer(): Promise<SnowflakeServer> {
  const engine = await startEngine([...macros, ...loadMacros])
  const loads = makeSnowflakeLoads(engine, () => server.storage)
  const results = new Map<string, Kept>()
  const requests = new Map<string, string>()
  let expired = new Set<string>()

  const send = ({ status, body, gzip = false }: Reply) => ({
    status,
    headers: { 'content-type': 'application/json', ...(gzip && { 'content-encoding': 'gzip' }) },
    body: gzip ? gzipSync(JSON.stringify(body)) : JSON.stringify(body),
  })
  const { proxy, close } = await startBehindProxy(
    async ({ request, url, body }) => send(await replyTo(request, url, String(body))),
    (error) => (error instanceof Refusal ? send(error) : undefined),
  )

  type Reply = { status: number; body: object; gzip?: boolean }

  async function replyTo(request: http.IncomingMessage, url: URL, text: string): Promise<Reply> {
    if (url.host !== host) throw new Refusal(403, '390114', 'no such account')
    if (url.pathname === '/') return { status: 200, body: {} }
    if (url.pathname === '/oauth/token-request') return giveToken(request, new URLSearchParams(text))
    authorize(request)
    if (request.headers.accept !== 'application/json') throw new Refusal(406, '391902', 'Unsupported Accept header')
    const [, handle, cancel] = /^\/api\/v2\/statements(?:\/([\w-]+)(\/cancel)?)?$/.exec(url.pathname) ?? []
    if (!url.pathname.startsWith('/api/v2/statements')) throw new Refusal(404, '390000', 'unknown endpoint')
    if (request.method === 'POST' && handle === undefined) return submit(request, url, text)
    if (request.method === 'POST' && cancel && handle) {
      server.cancelled.push(handle)
      return { status: 200, body: { code: '000604', message: 'SQL execution canceled', statementHandle: handle } }
    }
    if (request.method === 'GET' && handle && !cancel) return give(handle, url)
    throw new Refusal(405, '391900', 'method not allowed')
  }

  /** Snowflake OAuth: the client signs in by its header, and gets tokens of 10 minutes for its refresh token. */
  function giveToken({ headers, method }: http.IncomingMessage, form: URLSearchParams): Reply {
    const isClient = headers.authorization === `Basic ${Buffer.from('client-1:secret-1').toString('base64')}`
    const isForm = method === 'POST' && headers['content-type']?.startsWith('application/x-www-form-urlencoded')
    if (!isClient || !isForm) return { status: 400, body: { error: 'invalid_client' } }
    if (form.get('grant_type') !== 'refresh_token' || form.get('refresh_token') !== refreshToken) {
      return { status: 400, body: { error: 'invalid_grant', error_description: 'This is an invalid refresh token.' } }
    }
    return { status: 200, body: { access_token: `oauth-${randomUUID()}`, token_type: 'Bearer', expires_in: 600 } }
  }

  function authorize({ headers }: http.IncomingMessage): void {
    if (!headers['user-agent']) throw new Refusal(400, '391903', 'User-Agent header is missing')
    const token = /^Bearer (.+)$/.exec(headers.authorization ?? '')?.[1] ?? ''
    const type = headers['x-snowflake-authorization-token-type']
    const isGood =
      type === 'KEYPAIR_JWT'
        ? isJwt(token)
        : type === 'OAUTH'
          ? token.startsWith('oauth-')
          : type === 'PROGRAMMATIC_ACCESS_TOKEN' && token === accessToken
    if (!isGood || expired.has(token)) {
      throw new Refusal(401, type === 'KEYPAIR_JWT' ? '390144' : '390303', `JWT token is invalid. [${randomUUID()}]`)
    }
    server.tokens.add(token)
  }

  async function submit({ headers }: http.IncomingMessage, url: URL, text: string): Promise<Reply> {
    if (!headers['content-type']?.startsWith('application/json')) throw new Refusal(415, '391901', 'no JSON')
    const { requestId = '', retry, async, ...strange } = Object.fromEntries(url.searchParams)
    if (Object.keys(strange).length > 0 || !/^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/.test(requestId)) {
      throw new Refusal(400, '391912', 'a parameter is not known')
    }
    const before = requests.get(requestId)
    if (before !== undefined && retry !== 'true') throw new Refusal(400, '391911', 'this request was sent before')
    const handle = before ?? (await execute(text))
    requests.set(requestId, handle)
    const result = results.get(handle)
    if (async !== 'true' && result && result.pollsLeft === 0) return give(handle, new URL('https://x/'))
    return running(handle)
  }

  async function execute(text: string): Promise<string> {
    const {
      statement,
      timeout,
      database,
      schema,
      warehouse,
      role,
      bindings = {},
      parameters,
      ...strange
    } = JSON.parse(text) as Record<string, string> & { bindings?: Record<string, { type: string; value: string }> }
    const known = Object.keys(parameters ?? {}).every((key) =>
      ['timezone', 'binary_output_format', 'query_tag', 'multi_statement_count'].includes(key),
    )
    if (Object.keys(strange).length > 0 || !known || typeof statement !== 'string' || !Number.isInteger(timeout)) {
      throw new Refusal(400, '391917', 'the body is not as it should be')
    }
    if (role !== undefined && role !== 'READER') throw new Refusal(422, '390186', 'Role is not granted', '08004')
    const isPlain = statement === 'select current_user(), current_role()' || statement.startsWith('show ')
    if (!isPlain && warehouse !== 'LOAD_WH') throw new Refusal(422, '000606', 'No active warehouse selected', '57P03')
    for (const [name, only] of [[database, 'SALES'] as const, [schema, 'PUBLIC'] as const]) {
      if (name !== undefined && name !== only) throw new Refusal(422, '002043', 'does not exist', '02000')
    }
    const values = Object.keys(bindings).map((_, at) => {
      const binding = bindings[String(at + 1)]
      if (binding?.type !== 'TEXT' || typeof binding.value !== 'string') throw new Refusal(422, '002049', 'bad binding')
      return binding.value
    })
    server.executed.push(statement)
    const handle = randomUUID()
    await server.before?.(statement)
    results.set(handle, { pollsLeft: server.polls, gone: false, ...(await resultOf(statement, values, handle)) })
    return handle
  }

  async function resultOf(
    statement: string,
    values: string[],
    handle: string,
  ): Promise<Pick<Kept, 'rowType' | 'rows' | 'failed'>> {
    if (statement === 'select current_user(), current_role()') {
      return { rowType: [textColumn('CURRENT_USER()'), textColumn('CURRENT_ROLE()')], rows: [['MOVER', 'READER']] }
    }
    const canned = server.canned.find(({ match }) => match.test(statement))
    if (canned) return { rowType: canned.rowType, rows: / limit 0$/.test(statement) ? [] : canned.rows }
    try {
      const loaded = await loads.run(statement, handle)
      if (loaded) return { rowType: loaded.columns.map(textColumn), rows: loaded.rows }
      if (statement.startsWith('insert all')) return await insertIntoBoth(statement, values)
      const show = /^show (\w+) like '((?:[^'\\]|\\.)*)'(?: in (?:schema|database) (.+))?$/s.exec(statement)
      if (show) return await shown(show)
      if (statement.startsWith('merge ')) {
        const { rows } = await engine.run(`${translate(statement)} returning merge_action`, values)
        const done = rows.map(([action]) => action?.toLowerCase() ?? '')
        return mergeResultOf(statement, done)
      }
      const { columns, rows } = await engine.run(translate(statement), values)
      const types = columns.map(({ type }) => typeOf(type))
      const needed = await neededIn(statement)
      const rowType = columns.map(({ name }, at) => ({ name, nullable: !needed.has(name), ...types[at] }))
      return { rowType, rows: rows.map((row) => row.map((text, at) => rawOf(text, types[at]?.type ?? ''))) }
    } catch (error) {
      return { rowType: [], rows: [], failed: refusalOf(String(error)) }
    }
  }

  /** The columns of a described table that are NOT NULL. */
  async function neededIn(statement: string): Promise<Set<string | null>> {
    const [, table] = /^select \* from "SALES"\."PUBLIC"\."(\w+)" limit 0$/.exec(statement) ?? []
    if (table === undefined) return new Set()
    const { rows } = await engine.run(
      `select column_name from information_schema.columns where table_name = $1 and is_nullable = 'NO'`,
      [table],
    )
    return new Set(rows.map(([name]) => name ?? null))
  }

  /** What SHOW lists; a pattern has the marks of a string, and matches in any letter case. */
  async function shown([, what = '', pattern, where = '']: RegExpExecArray): Promise<Pick<Kept, 'rowType' | 'rows'>> {
    const sources: Readonly<Record<string, readonly [select: string, where: string]>> = {
      warehouses: [`select 'LOAD_WH' as name`, ''],
      databases: [`select catalog_name as name from information_schema.schemata where catalog_name = 'SALES'`, ''],
      schemas: [`select schema_name as name from information_schema.schemata where catalog_name = 'SALES'`, '"SALES"'],
      objects: [`select table_name as name, table_type as kind from information_schema.tables`, '"SALES"."PUBLIC"'],
      tables: [
        `select table_name as name from information_schema.tables where table_type <> 'VIEW'`,
        '"SALES"."PUBLIC"',
      ],
    }
    const [select, place] = sources[what] ?? ['', undefined]
    if (place !== where) throw new Error('Catalog Error: does not exist')
    const { columns, rows } = await engine.run(
      `select distinct * from (${select}) where name ilike $1 escape '\\' order by name`,
      [String(pattern).replace(/\\(.)/g, '$1')],
    )
    const withRows = columns.some(({ name }) => name === 'kind')
    const rowType = [...columns.map(({ name }) => textColumn(name)), ...(withRows ? [textColumn('rows')] : [])]
    return { rowType, rows: rows.map((row) => (withRows ? [...row, '12'] : [...row])) }
  }

  /** One statement is one transaction, though DuckDB needs several for it. */
  async function insertIntoBoth(statement: string, values: string[]): Promise<Pick<Kept, 'rowType' | 'rows'>> {
    const [, isRow, table, names, aliases, isNote, notes, noteNames, noteAliases, select = ''] =
      insertAll.exec(statement) ?? []
    if (table === undefined) throw new Error('Parser Error: another form of INSERT ALL')
    await engine.run('begin')
    try {
      await engine.run(`create temp table "inserted" as ${translate(select)}`, values)
      const inserted = await engine.run(
        `insert into ${table} (${names}) select ${aliases} from "inserted" where ${isRow}`,
      )
      const noted = await engine.run(
        `insert into ${notes} (${noteNames}) select ${noteAliases} from "inserted" where ${isNote}`,
      )
      await engine.run('drop table "inserted"')
      await engine.run('commit')
      const count = { type: 'fixed', precision: 19, scale: 0, nullable: false }
      return {
        rowType: [table, notes].map((name) => ({ name: `number of rows inserted into ${name}`, ...count })),
        rows: [[inserted.rows[0]?.[0] ?? null, noted.rows[0]?.[0] ?? null]],
      }
    } catch (error) {
      await engine.run('rollback')
      throw error
    }
  }

  function running(handle: string): Reply {
    const statementStatusUrl = `/api/v2/statements/${handle}`
    const message = 'Asynchronous execution in progress. Use provided query id to perform query monitoring.'
    return { status: 202, body: { code: '333334', message, statementHandle: handle, statementStatusUrl } }
  }

  function give(handle: string, url: URL): Reply {
    const { partition = '0', ...strange } = Object.fromEntries(url.searchParams)
    if (Object.keys(strange).length > 0) throw new Refusal(400, '391912', 'a parameter is not known')
    const result = results.get(handle)
    if (!result) throw new Refusal(404, '390142', 'no such statement')
    if (result.gone) throw new Refusal(422, '000710', `Result for query ${handle} has expired`, '02000')
    if (result.pollsLeft-- > 0) return running(handle)
    if (result.failed) throw result.failed
    server.given.push(`${handle}?${partition}`)
    const { rows, rowType } = result
    // The first partition of Snowflake is smaller than the others.
    const sizes = [Math.min(rows.length, Math.ceil(server.partitionRows / 3))]
    for (let at = sizes[0] ?? 0; at < rows.length; at += server.partitionRows) {
      sizes.push(Math.min(rows.length - at, server.partitionRows))
    }
    const number = Number(partition)
    if (!Number.isInteger(number) || number < 0 || number >= sizes.length) {
      throw new Refusal(422, '391919', 'there is no such partition', '22023')
    }
    const first = sizes.slice(0, number).reduce((sum, size) => sum + size, 0)
    const data = rows.slice(first, first + (sizes[number] ?? 0))
    if (number > 0) return { status: 200, body: { data }, gzip: true }
    const partitionInfo = sizes.map((rowCount) => ({ rowCount, uncompressedSize: rowCount * 100 }))
    const format = { format: 'jsonv2', numRows: rows.length, partitionInfo, rowType }
    const rest = { code: '090001', statementHandle: handle, sqlState: '00000', message: 'Statement executed "[{]}".' }
    return { status: 200, body: { resultSetMetaData: format, data, ...rest, stats: { lists: [[1], []] } } }
  }

  const common = { snowflakeAccount: 'acme-west', snowflakeRole: 'reader' }
  const server: SnowflakeServer = {
    proxy,
    routes: { [`https://${host}`]: proxy.url },
    strangeKey: pem(strangeKey),
    keyPair: {
      ...common,
      authType: 'key-pair',
      snowflakeUser: 'mover',
      snowflakeHost: `https://${host}/`,
      privateKey: pem(privateKey),
    },
    accessToken: { ...common, authType: 'basic', username: 'mover', password: accessToken },
    oauth: {
      authType: 'oauth',
      oauthHost: host,
      oauthClientId: 'client-1',
      oauthClientSecret: 'secret-1',
      oauthRefreshToken: refreshToken,
      snowflakeRole: 'reader',
    },
    executed: [],
    cancelled: [],
    given: [],
    tokens: new Set(),
    partitionRows: 3000,
    polls: 0,
    storage: undefined,
    before: undefined,
    canned: [],
    run: (statement) => engine.run(statement),
    forgetResults() {
      for (const result of results.values()) result.gone = true
    },
    expireTokens() {
      expired = new Set(server.tokens)
    },
    async close() {
      await close()
      engine.close()
    },
  }
  return server
}

function isJwt(token: string): boolean {
  const [header = '', claims = '', signature = ''] = token.split('.')
  const { alg } = decode(header)
  const { iss, sub, iat, exp } = decode(claims)
  const now = Date.now() / 1000
  return (
    alg === 'RS256' &&
    verify('sha256', Buffer.from(`${header}.${claims}`), publicKey, Buffer.from(signature, 'base64url')) &&
    iss === `${subject}.SHA256:${digest}` &&
    sub === subject &&
    Number(iat) <= now + 1 &&
    Number(exp) > now &&
    Number(exp) - Number(iat) <= 3600
  )
}

function decode(part: string): Record<string, unknown> {
  try {
    return JSON.parse(Buffer.from(part, 'base64url').toString()) as Record<string, unknown>
  } catch {
    return {}
  }
}

/** Converts an error of DuckDB to Snowflake's error, values of rows included. */
function refusalOf(error: string): Refusal {
  if (error.includes('Catalog Error')) {
    return new Refusal(422, '002003', `SQL compilation error:\n${error.split('\n')[0]}`, '42S02')
  }
  if (error.includes('Parser Error')) return new Refusal(422, '001003', 'SQL compilation error: syntax error', '42000')
  if (error.includes('Binder Error')) return new Refusal(422, '000904', 'SQL compilation error: invalid', '42000')
  if (error.includes('NOT NULL constraint')) {
    return new Refusal(422, '100072', `DML operation failed: ${error}`, '22000')
  }
  return new Refusal(422, '100038', error, '22018')
}

const textColumn = (name: string) => ({ name, type: 'text', length: 100, nullable: true })
