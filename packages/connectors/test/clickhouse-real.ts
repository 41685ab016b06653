import type http from 'node:http'
import { createRequire } from 'node:module'
import { join } from 'node:path'
import { type EngineResult, startEngine } from './warehouse-engine.ts'

/** The HTTP interface of ClickHouse with its real engine behind it, which runs in this process: chdb. */
export type RealClickHouse = {
  /** Answers a request. Throws `RealException` for what the engine refuses. */
  answer(request: http.IncomingMessage, url: URL, body: string): Promise<string>
  /** Runs a statement of a test, which is one of DuckDB: tables are created with the types of ClickHouse that fit. */
  run(statement: string): Promise<EngineResult>
  readonly version: string
  close(): void
}

/** An exception of the engine. `message` begins with its code. */
export class RealException extends Error {
  readonly code: number
  constructor(message: string) {
    super(message)
    this.code = Number(/Code: (\d+)\./.exec(message)?.[1] ?? 1001)
  }
}

/** The part of chdb that is used: sessions on one folder, each with its own settings. */
type Chdb = {
  readonly Session: new (directory: string) => { query(text: string, format?: string): string; close?(): void }
}

/** Parameters of the interface that are no settings. */
const parameters = new Set(['query', 'query_id', 'default_format', 'database', 'wait_end_of_query'])

/** @param chdb the folder of the package. @param directory where the engine keeps its tables */
export async function startRealClickHouse(chdb: string, directory: string): Promise<RealClickHouse> {
  const { Session } = createRequire(join(chdb, 'package.json'))(chdb) as Chdb
  const duckdb = await startEngine()
  /** Statements in one session, whose settings end with it. Resolves with what the last one answers. */
  const inSession = (statements: readonly string[], format: string): string => {
    const session = new Session(directory)
    try {
      return statements.map((statement) => session.query(statement, format)).at(-1) ?? ''
    } catch (error) {
      throw new RealException(String(error instanceof Error ? error.message : error).replace(/^.*?(?=Code: )/s, ''))
    } finally {
      session.close?.()
    }
  }
  const version = inSession(['create database if not exists crm', 'select version()'], 'TSV').trim()

  return {
    version,
    async answer({ headers }, url, body) {
      const given = Object.fromEntries(url.searchParams)
      const beside = partIn(headers['content-type'], body)
      const own = Object.entries(given).filter(([name]) => !parameters.has(name) && !name.startsWith('penstock_keys_'))
      // Nothing can be set after `readonly`.
      const settings = own.sort(([a], [b]) => Number(a === 'readonly') - Number(b === 'readonly'))
      const statement = beside ? (given.query ?? '') : [given.query, body].filter(Boolean).join('\n')
      return inSession(
        [
          ...(given.database ? [`use ${given.database}`] : []),
          ...(beside ? besideStatements(given, beside.content) : []),
          ...settings.map(([name, value]) => `set ${name} = '${value.replaceAll("'", "''")}'`),
          statement,
        ],
        given.default_format ?? 'TabSeparated',
      )
    },
    async run(statement) {
      const [, table = '', query = ''] = /^\s*create (?:or replace )?table (\S+) as\s+(.+)$/is.exec(statement) ?? []
      if (query !== '') {
        const { columns, rows } = await duckdb.run(query)
        const fields = columns.map(({ name, type }) => `${name} ${typeOf(type)}`).join(', ')
        const lines = rows.map((row) =>
          JSON.stringify(
            Object.fromEntries(columns.map(({ name, type }, at) => [name, jsonOf(row[at] ?? null, type)])),
          ),
        )
        return resultOf(
          inSession(
            [
              ...fixtureSettings,
              `create table ${table} (${fields}) engine = MergeTree order by tuple()`,
              `insert into ${table} format JSONEachRow\n${lines.join('\n')}`,
            ],
            'JSONCompactEachRowWithNamesAndTypes',
          ),
        )
      }
      return resultOf(inSession([...fixtureSettings, inClickHouse(statement)], 'JSONCompactEachRowWithNamesAndTypes'))
    },
    close: () => duckdb.close(),
  }
}

/** Settings with which tables have the NULLs, and values the texts, that tests expect. */
const fixtureSettings = [
  'use crm',
  'set data_type_default_nullable = 1',
  `set date_time_input_format = 'best_effort'`,
  'set output_format_json_quote_decimals = 1',
  'set output_format_decimal_trailing_zeros = 1',
]

/** The first part of a form, with which a statement comes with a table; undefined if the body is no form. */
export function partIn(type: string | undefined, body: string): { head: string; content: string } | undefined {
  const boundary = /^multipart\/form-data; boundary="?([^"]+)"?$/.exec(type ?? '')?.[1]
  if (boundary === undefined) return undefined
  const [, part = ''] = body.split(`--${boundary}`)
  const [head = '', ...rest] = part.split('\r\n\r\n')
  return { head, content: rest.join('\r\n\r\n').trimEnd() }
}

/** The statements that make the table of a form, for one session. */
function besideStatements(given: Record<string, string>, lines: string): string[] {
  const format = given.penstock_keys_format ?? ''
  return [
    `set date_time_input_format = 'best_effort'`,
    `create temporary table penstock_keys (${given.penstock_keys_structure}) engine = Memory`,
    `insert into penstock_keys format ${format}\n${lines}`,
  ]
}

const jsonOf = (text: string | null, type: string): string | boolean | null =>
  text !== null && type === 'BOOLEAN' ? text === 'true' : text

/** A type of ClickHouse for one of DuckDB. */
function typeOf(type: string): string {
  if (/^timestamp/i.test(type)) return `DateTime64(6, 'UTC')`
  if (/^date$/i.test(type)) return 'Date32'
  return /^varchar$/i.test(type) ? 'String' : type
}

/** A statement of DuckDB in the words of ClickHouse, as far as the tests need it. */
function inClickHouse(statement: string): string {
  const [, table, columns] = /^\s*create table (\S+) \((.+)\)\s*$/is.exec(statement) ?? []
  if (table !== undefined && columns !== undefined) {
    const typed = columns.replace(/ (timestamp|date|varchar)\b/gi, (_, type: string) => ` ${typeOf(type)}`)
    return `create table ${table} (${typed}) engine = MergeTree order by tuple() settings non_replicated_deduplication_window = 1000`
  }
  return statement
    .replace(/timestamp ('[^']+')/g, `toDateTime64($1, 6, 'UTC')`)
    .replace(/ alter column (\w+) set not null$/i, " modify column $1 String default ''")
    .replace(/strftime\((\w+), '([^']+)'\)/g, (_, column: string, form: string) => {
      return `formatDateTime(${column}, '${form.replaceAll('%M', '%i')}')`
    })
}

/** The rows of an answer, each value as text. */
function resultOf(answer: string): EngineResult {
  const [names = [], types = [], ...rows] = answer
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line) as unknown[])
  return {
    columns: names.map((name, at) => ({ name: String(name), type: String(types[at]) })),
    rows: rows.map((row) => row.map((value) => (value === null ? null : String(value)))),
  }
}
