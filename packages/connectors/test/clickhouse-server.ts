import { mkdtemp, rm } from 'node:fs/promises'
import type http from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type Sent, startBehindProxy } from './behind-proxy.ts'
import { partIn, RealException, startRealClickHouse } from './clickhouse-real.ts'
import type { FailingProxy } from './failing-proxy.ts'
import { type EngineResult, startEngine } from './warehouse-engine.ts'

/**
 * A server that keeps to the rules of ClickHouse's HTTP interface, with DuckDB behind it: users, the codes of exceptions, inserts of
 * JSONEachRow that fail whole, and deduplication by token, as a table with a Replicated engine has it.
 */
export type ClickHouseServer = {
  readonly proxy: FailingProxy
  readonly routes: Readonly<Record<string, string>>
  readonly secrets: Readonly<Record<string, string>>
  /** The databases that it has, by name. */
  readonly databases: readonly string[]
  /** As `version()` and `currentUser()` answer. */
  readonly version: string
  readonly user: string
  /** Statements that were run, in order. */
  readonly executed: string[]
  run(statement: string): Promise<EngineResult>
  close(): Promise<void>
}

export const testServerName = 'a server that keeps to the rules of ClickHouse, with DuckDB behind it'

class Exception extends Error {
  readonly status: number
  readonly code: number
  constructor(status: number, code: number, message: string) {
    super(message)
    this.status = status
    this.code = code
  }
}

const version = '26.3.1.1'
const host = 'clickhouse.example.com:8443'

/** Starts it; with ClickHouse's real engine where `PENSTOCK_TEST_CLICKHOUSE` names the folder of chdb: `npm run test:clickhouse`. */
export async function startClickHouseServer(): Promise<ClickHouseServer> {
  const chdb = process.env.PENSTOCK_TEST_CLICKHOUSE
  return chdb ? startOnRealEngine(chdb) : startOnDuckDb()
}

async function startOnRealEngine(chdb: string): Promise<ClickHouseServer> {
  const directory = await mkdtemp(join(tmpdir(), 'clickhouse-'))
  const engine = await startRealClickHouse(chdb, directory)
  const executed: string[] = []
  const { proxy, close } = await startBehindProxy(
    async ({ request, url, body }) => {
      if (url.pathname === '/ping') return { status: 200, body: 'Ok.\n' }
      assertSignedIn(request)
      executed.push(url.searchParams.get('query') ?? String(body))
      return { status: 200, body: await engine.answer(request, url, String(body)) }
    },
    (error) => {
      if (error instanceof RealException) return refusal(500, error.code, error.message)
      return error instanceof Exception ? refusalOf(error) : undefined
    },
  )
  return {
    ...addressed(proxy),
    databases: ['crm', 'default'],
    version: engine.version,
    user: 'default',
    executed,
    run: engine.run,
    async close() {
      await close()
      engine.close()
      await rm(directory, { recursive: true, force: true })
    },
  }
}

async function startOnDuckDb(): Promise<ClickHouseServer> {
  const engine = await startEngine(['create schema crm', 'use crm', ...macros])
  const tokens = new Set<string>()

  const { proxy, close } = await startBehindProxy(
    async ({ request, url, body }) => ({
      status: 200,
      headers: { 'content-type': 'application/json' },
      body: await replyTo(request, url, String(body)),
    }),
    (error) => {
      return error instanceof Exception ? refusalOf(error) : undefined
    },
  )

  async function replyTo(request: http.IncomingMessage, url: URL, body: string): Promise<string> {
    if (url.pathname === '/ping') return 'Ok.\n'
    assertSignedIn(request)
    if (url.pathname !== '/' || request.method !== 'POST') throw new Exception(404, 48, 'There is no handle')
    const { query, insert_deduplication_token: token = '', query_id: _, ...more } = Object.fromEntries(url.searchParams)
    // ClickHouse's own client names the format behind the statement, which counts more than the setting.
    const [, statement = body, format] = /^(.*?)\s*\nFORMAT (\w+)$/s.exec(body) ?? []
    const settings = format === undefined ? more : { ...more, default_format: format }
    const known = new Set(
      'insert_deduplicate async_insert wait_end_of_query date_time_input_format input_format_null_as_default input_format_skip_unknown_fields input_format_parallel_parsing max_insert_block_size default_format database readonly timeout_overflow_mode read_overflow_mode result_overflow_mode sort_overflow_mode cancel_http_readonly_queries_on_client_close set_overflow_mode mutations_sync penstock_keys_format penstock_keys_structure'.split(
        ' ',
      ),
    )
    const strange = Object.keys(settings).find((name) => !known.has(name))
    if (strange !== undefined || settings.wait_end_of_query !== '1')
      throw new Exception(404, 115, `Unknown setting ${strange}`)
    server.executed.push(query ?? statement)
    if (query !== undefined && settings.penstock_keys_structure !== undefined) {
      return readBeside(query, body, request.headers['content-type'] ?? '', settings)
    }
    if (query !== undefined) return insert(query, body, token)
    if (statement.startsWith('delete from ')) {
      if (settings.mutations_sync !== '2') throw new Exception(400, 62, 'Syntax error')
      await engine.run(translate(statement)).catch((error: unknown) => {
        throw misfitIn(error) ?? error
      })
      return ''
    }
    if (settings.default_format === 'JSONCompactEachRowWithNamesAndTypes') return read(statement, settings)
    const data = await select(statement)
    return data === undefined ? '' : JSON.stringify({ meta: [], data, rows: data.length })
  }

  async function read(text: string, { readonly, database }: Record<string, string>): Promise<string> {
    if (readonly !== '1' || database !== 'crm') throw new Exception(404, 81, 'Database does not exist')
    const { columns, rows } = await engine.run(translate(text)).catch((error: unknown) => {
      const known = /Catalog Error/.test(String(error)) ? 60 : /Binder Error/.test(String(error)) ? 47 : 62
      throw new Exception(known === 60 ? 404 : 400, known, String(error))
    })
    const names = columns.map(({ name }) => name)
    const types = columns.map(({ type }) => `Nullable(${typeOf(type)})`)
    return [names, types, ...rows].map((line) => `${JSON.stringify(line)}\n`).join('')
  }

  /** A statement beside a table that comes as a file of a form. */
  async function readBeside(query: string, body: string, type: string, settings: Record<string, string>) {
    const { head = '', content = '' } = partIn(type, body) ?? {}
    if (!head.includes('name="penstock_keys"') || settings.penstock_keys_format !== 'JSONEachRow') {
      throw new Exception(400, 36, 'No external data')
    }
    const lines = content.split('\n')
    const columns = (settings.penstock_keys_structure ?? '').split(/, (?=c\d)/).map((column) => {
      const [name = '', ...type] = column.split(' ')
      const known = Object.entries(names).find(([, theirs]) => theirs === type.join(' '))?.[0] ?? 'varchar'
      return `cast(j ->> '${name}' as ${known}) as ${name}`
    })
    await engine.run(
      `create or replace temp table penstock_keys as select ${columns.join(', ')} from (select unnest(cast($1 as json)::json[]) as j)`,
      [`[${lines.join(',')}]`],
    )
    try {
      return await read(query.replace(' final where ', ' where '), { readonly: '1', database: settings.database ?? '' })
    } finally {
      await engine.run('drop table temp.penstock_keys')
    }
  }

  /** The key of a table that replaces rows, which is a primary key here, so that reading it is like reading with FINAL. */
  async function sortingKeyOf(table: string): Promise<string[] | undefined> {
    const { rows } = await engine.run(
      `select array_to_string(constraint_column_names, ',') from duckdb_constraints() where constraint_type = 'PRIMARY KEY' and table_name = $1`,
      [table],
    )
    return rows[0]?.[0]?.split(',')
  }

  async function select(text: string): Promise<EngineResult['rows'] | undefined> {
    if (text === 'select currentUser(), version()') return [['mover', version]]
    if (text === `select toString(getSetting('readonly'))`) return [['0']]
    if (text.startsWith('select name, total_rows, engine from system.tables')) {
      return (
        await engine.run(
          `select table_name, estimated_size, 'MergeTree' from duckdb_tables() where schema_name = 'crm'
           union all select view_name, null, 'View' from duckdb_views() where schema_name = 'crm' order by 1`,
        )
      ).rows
    }
    const [, keyed] =
      /^select engine, sorting_key from system\.tables where database = 'crm' and name = '(\w+)'$/.exec(text) ?? []
    if (keyed !== undefined) {
      const key = await sortingKeyOf(keyed)
      return [[key ? 'SharedReplacingMergeTree' : 'MergeTree', key?.join(', ') ?? '']]
    }
    const [, database, table] =
      /^select name, type, default_kind from system\.columns where database = '(\w+)' and table = '(\w+)' order by position$/.exec(
        text,
      ) ?? []
    if (database !== undefined) {
      const { rows } = await engine.run(
        `select column_name, data_type, is_nullable from information_schema.columns
          where table_schema = $1 and table_name = $2 order by ordinal_position`,
        [database, table ?? ''],
      )
      return rows.map(([name, type, nullable]) => {
        const known = typeOf(type ?? '')
        return [name ?? null, nullable === 'YES' ? `Nullable(${known})` : known, '']
      })
    }
    if (text.startsWith('select name from system.databases')) {
      return text.includes(`= '`) && !text.includes(`= 'crm'`) ? [] : [['crm']]
    }
    if (text.startsWith('select name, total_rows from system.tables')) {
      return (
        await engine.run(`select table_name, estimated_size from duckdb_tables() where schema_name = 'crm' order by 1`)
      ).rows
    }
    const created =
      /^create table if not exists `crm`\.`(\w+)` \((.+)\) engine = (?:MergeTree order by tuple\(\)|ReplacingMergeTree order by \((.+)\)) settings non_replicated_deduplication_window = 1000$/.exec(
        text,
      )
    if (!created && !/^truncate table `crm`\.`\w+`$/.test(text)) {
      throw new Exception(
        /absent/.test(text) ? 404 : 400,
        /absent/.test(text) ? 81 : 62,
        'Syntax error, or no such database',
      )
    }
    const [, name, columns = '', key] = created ?? []
    const types = columns.replaceAll('Nullable(String)', 'varchar').replaceAll(' String', ' varchar')
    const primary = key === undefined ? '' : `, primary key (${key})`
    await engine.run(
      created ? `create table crm."${name}" (${types}${primary})`.replaceAll('`', '"') : text.replaceAll('`', '"'),
    )
    return undefined
  }

  async function insert(query: string, body: string, token: string): Promise<string> {
    const [, table = '', names = ''] =
      /^insert into (?:`crm`|crm)\.`?(\w+)`? \((.+)\) format JSONEachRow$/i.exec(query) ?? []
    if (table === '' || token === '') throw new Exception(400, 62, 'Syntax error')
    if (tokens.has(token)) return ''
    const { rows: types } = await engine.run(
      'select column_name, data_type from information_schema.columns where table_name = $1',
      [table],
    )
    const typeOfColumn = new Map(types.map(([name, type]) => [name, type]))
    const columns = names.split(', ').map((name) => name.replace(/^`(.*)`$/, '$1'))
    const rows = body
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line) as Record<string, unknown>)
    for (const row of rows) {
      const strange = Object.keys(row).find((key) => !columns.includes(key))
      if (strange !== undefined)
        throw new Exception(400, 117, `Unknown field found while parsing JSONEachRow format: ${strange}`)
      for (const [name, value] of Object.entries(row)) {
        if (value !== null && !isValue(value, typeOfColumn.get(name) ?? '')) {
          throw new Exception(400, 27, `Cannot parse input: expected ${name} before: '${value}': (at row 1)`)
        }
      }
    }
    const values = columns.map((name) => {
      const text = `json_extract_string(j, '$."${name}"')`
      const clean = typeOfColumn.get(name) === 'TIMESTAMP' ? `rtrim(${text}, 'Z')` : text
      return `cast(${clean} as ${typeOfColumn.get(name)})`
    })
    const places = columns.map((name) => `"${name}"`).join(', ')
    const json = JSON.stringify(rows)
    try {
      await engine.run(
        `insert ${(await sortingKeyOf(table)) ? 'or replace ' : ''}into crm."${table}" (${places}) select ${values.join(', ')} from (select unnest(cast($1 as json)::json[]) as j)`,
        [json],
      )
    } catch (error) {
      throw misfitIn(error) ?? error
    }
    tokens.add(token)
    return ''
  }

  const server: ClickHouseServer = {
    ...addressed(proxy),
    databases: ['crm'],
    version,
    user: 'mover',
    executed: [],
    run: (statement) => engine.run(statement),
    async close() {
      await close()
      engine.close()
    },
  }
  return server
}

/** Where the server is, and who may sign in. */
const addressed = (proxy: FailingProxy) => ({
  proxy,
  routes: { [`https://${host}`]: proxy.url },
  secrets: { address: `https://${host}`, user: 'mover', password: 'päss' },
})

function assertSignedIn({ headers }: http.IncomingMessage): void {
  const basic = /^Basic (.+)$/.exec(headers.authorization ?? '')?.[1] ?? ''
  if (Buffer.from(basic, 'base64').toString() !== 'mover:päss') {
    throw new Exception(403, 516, 'mover: Authentication failed: password is incorrect, or there is no such user.')
  }
}

const refusal = (status: number, code: number, body: string): Sent => ({
  status,
  headers: { 'x-clickhouse-exception-code': String(code) },
  body: `${body}\n`,
})
const refusalOf = ({ status, code, message }: Exception): Sent =>
  refusal(status, code, `Code: ${code}. DB::Exception: ${message} (${codes[code]}) (version ${version})`)

/** The names of the exceptions, which ClickHouse writes behind their messages. */
const codes: Readonly<Record<number, string>> = {
  27: 'CANNOT_PARSE_INPUT_ASSERTION_FAILED',
  36: 'BAD_ARGUMENTS',
  47: 'UNKNOWN_IDENTIFIER',
  48: 'NOT_IMPLEMENTED',
  49: 'LOGICAL_ERROR',
  60: 'UNKNOWN_TABLE',
  62: 'SYNTAX_ERROR',
  81: 'UNKNOWN_DATABASE',
  115: 'UNKNOWN_SETTING',
  117: 'INCORRECT_DATA',
  376: 'CANNOT_PARSE_UUID',
  516: 'AUTHENTICATION_FAILED',
}

const names: Readonly<Record<string, string>> = {
  BIGINT: 'Int64',
  INTEGER: 'Int32',
  SMALLINT: 'Int16',
  DOUBLE: 'Float64',
  BOOLEAN: 'Bool',
  DATE: 'Date32',
  TIMESTAMP: "DateTime64(6, 'UTC')",
  UUID: 'UUID',
}

/** Functions of ClickHouse. */
const macros = [
  'create macro numbers(n) as table select range as number from range(n)',
  'create macro toString(x) as cast(x as varchar)',
  'create macro toUInt8(x) as cast(x as utinyint)',
  'create macro toTimeZone(x, z) as x',
  'create macro toDateTime64(x, digits, z) as cast(x as timestamp)',
  'create macro toIntervalSecond(x) as to_seconds(x)',
  'create macro now64(digits, z) as cast(now() as timestamp)',
  'create macro maxOrNull(x) as max(x)',
  'create macro json_text(x) as cast(to_json(x) as varchar)',
]

/** A statement in the words of DuckDB. */
const translate = (text: string): string =>
  Object.entries(names).reduce(
    (all, [ours, theirs]) => all.replaceAll(` as ${theirs})`, ` as ${ours})`),
    text
      .replaceAll('`', '"')
      .replaceAll('hex(SHA256(toJSONString(tuple(', 'upper(sha256(json_text(list_value(')
      .replace(/unhex\(('[0-9A-F]*')\)/g, 'decode(unhex($1))'),
  )

/** How ClickHouse writes a type of DuckDB. */
const typeOf = (type: string): string =>
  type.startsWith('DECIMAL') ? `Decimal${type.slice(7).replace(',', ', ')}` : (names[type] ?? 'String')

/** The exception of a value that is none of its column; `undefined` if an error has another cause. */
function misfitIn(error: unknown): Exception | undefined {
  if (String(error).includes('NOT NULL'))
    return new Exception(400, 117, 'Cannot insert NULL value into a column of a type that is not Nullable')
  return String(error).includes('Conversion Error') ? new Exception(400, 376, 'Cannot parse UUID') : undefined
}

/** Whether ClickHouse reads a value of JSON for a column. */
function isValue(value: unknown, type: string): boolean {
  if (type === 'BOOLEAN') return typeof value === 'boolean'
  if (type === 'DOUBLE') return typeof value === 'number'
  if (typeof value !== 'string') return false
  if (type === 'TIMESTAMP') return /^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d(\.\d{1,6})?Z$/.test(value)
  if (type === 'DATE') return /^\d{4}-\d\d-\d\d$/.test(value)
  if (/INT/.test(type)) return /^-?\d+$/.test(value)
  return !type.startsWith('DECIMAL') || /^-?\d+(\.\d+)?$/.test(value)
}
