import { type ConnectorContext, ConnectorError } from '@penstock/connector'
import type { Answer } from '../platform-api/call.ts'
import { openPlatform } from '../platform-api/client.ts'
import { isObject, listIn, objectIn, parseJson, textIn } from '../platform-api/json.ts'
import { connectorErrorOfStatus } from '../platform-api/status.ts'
import { type ReadColumn, readColumnOf } from './cells.ts'

/** The HTTP interface of ClickHouse. */
export type ClickHouseApi = {
  /** `https://…`, without a path. */
  readonly origin: string
  /** Runs a statement. Resolves with the rows of its result, each value as JSON. */
  run(statement: string): Promise<readonly (readonly unknown[])[]>
  /**
   * Runs a statement that reads, whose values are all text. Resolves with its whole result. Throws `response_too_large` if that
   * is larger than 64 MiB.
   */
  read(statement: string, at: { readonly database: string; readonly waitMs: number }): Promise<ReadResult>
  /**
   * Inserts lines of JSON. If ClickHouse refuses a value of a row, nothing is inserted, and it resolves with the code of the
   * error.
   * @param token the same for the same rows: a table that detects duplicates inserts them only once
   */
  insert(statement: string, lines: string, token: string): Promise<number | undefined>
  /**
   * Runs a statement that reads, together with a temporary table `penstock_keys` that contains these lines of JSON. Resolves
   * with its whole result, whose values are all text.
   */
  readBeside(
    statement: string,
    beside: { readonly database: string; readonly structure: string; readonly lines: string },
  ): Promise<ReadResult['rows']>
  /**
   * Deletes rows, and waits until every replica has deleted them. If ClickHouse refuses a value of the statement, nothing is
   * deleted, and it resolves with the code of the error.
   */
  deleteRows(statement: string): Promise<number | undefined>
}

/** The result of a statement that reads: its columns with their types, and the values as text. */
type ReadResult = {
  readonly columns: readonly ReadColumn[]
  readonly rows: readonly (readonly (string | null)[])[]
}

const readBytesMax = 64 << 20

/** An insert of up to this number of rows is one block, which is inserted as a whole or not at all. */
const blockRows = 1_000_000

/** Opens the interface. Throws `invalid_address` if the settings contain no valid address. */
export function openClickHouse(context: ConnectorContext): ClickHouseApi {
  const { address, user, password } = context.secrets
  const origin = originOf(address)
  const basic = Buffer.from(`${String(user ?? '')}:${String(password ?? '')}`).toString('base64')
  const { ask } = openPlatform(context, {
    name: 'ClickHouse',
    baseUrl: origin,
    credentials: { headers: async () => ({ authorization: `Basic ${basic}` }), renews: false },
    errorOf: (answer) => {
      const code = codeOf(answer)
      return code === undefined ? undefined : connectorErrorOf(code, answer)
    },
  })
  async function run(statement: string): Promise<readonly (readonly unknown[])[]> {
    const query = { default_format: 'JSONCompact', wait_end_of_query: '1' }
    const { text } = await ask({ path: '/', method: 'POST', query, body: statement })
    if (text.trim() === '') return []
    const parsed = parseJson(text)
    if (isObject(parsed)) return listIn(objectIn(parsed).data).map(listIn)
    throw new ConnectorError('malformed_response', 'ClickHouse did not answer with the expected JSON.')
  }

  // A part of the rows must not look like all of them.
  const whole = {
    timeout_overflow_mode: 'throw',
    read_overflow_mode: 'throw',
    result_overflow_mode: 'throw',
    sort_overflow_mode: 'throw',
  }

  let reading: Promise<Readonly<Record<string, string>>> | undefined
  /**
   * The settings of reading statements. Sending the value that a user already has is allowed even if the user cannot change any
   * setting.
   */
  async function readingSettings(): Promise<Readonly<Record<string, string>>> {
    const [row = []] = await run(`select toString(getSetting('readonly'))`)
    const mode = textIn(row[0]) ?? '0'
    return {
      readonly: mode === '0' ? '1' : mode,
      ...whole,
      ...(mode === '1' ? {} : { cancel_http_readonly_queries_on_client_close: '1' }),
    }
  }

  return {
    origin,
    run,
    async read(statement, { database, waitMs }) {
      reading ??= readingSettings()
      const settings = await reading.catch((error: unknown) => {
        reading = undefined
        throw error
      })
      const query = {
        ...settings,
        database,
        default_format: 'JSONCompactEachRowWithNamesAndTypes',
        wait_end_of_query: '1',
      }
      const { text } = await ask({
        path: '/',
        method: 'POST',
        query,
        body: statement,
        timeoutMs: waitMs,
        bytesMax: readBytesMax,
      })
      return resultIn(text)
    },
    async insert(statement, lines, token) {
      const query = {
        query: statement,
        insert_deduplicate: '1',
        insert_deduplication_token: token,
        async_insert: '0',
        wait_end_of_query: '1',
        date_time_input_format: 'best_effort',
        input_format_null_as_default: '0',
        input_format_skip_unknown_fields: '0',
        input_format_parallel_parsing: '0',
        max_insert_block_size: String(blockRows),
      }
      return codeOf(await ask({ path: '/', method: 'POST', query, body: lines, expects: isRefused }))
    },
    async readBeside(statement, { database, structure, lines }) {
      const query = {
        ...whole,
        set_overflow_mode: 'throw',
        database,
        query: statement,
        default_format: 'JSONCompactEachRowWithNamesAndTypes',
        wait_end_of_query: '1',
        date_time_input_format: 'best_effort',
        penstock_keys_format: 'JSONEachRow',
        penstock_keys_structure: structure,
      }
      const parts = [{ name: 'penstock_keys', content: lines, fileName: 'keys.json' }]
      const { text } = await ask({ path: '/', method: 'POST', query, parts, bytesMax: readBytesMax })
      return resultIn(text).rows
    },
    async deleteRows(statement) {
      const query = { wait_end_of_query: '1', mutations_sync: '2' }
      return codeOf(await ask({ path: '/', method: 'POST', query, body: statement, expects: isRefused }))
    },
  }
}

function originOf(address: unknown): string {
  const text = String(address ?? '').trim()
  const url = URL.canParse(text) ? new URL(text) : undefined
  if (url && /^https?:$/.test(url.protocol) && url.username + url.password === '' && url.pathname === '/')
    return url.origin
  throw new ConnectorError(
    'invalid_address',
    'The address is not that of a ClickHouse server, such as https://clickhouse.example.com:8443.',
  )
}

/** Reads an answer in the format JSONCompactEachRowWithNamesAndTypes: names, types and rows, a line for each. */
function resultIn(text: string): ReadResult {
  if (!text.endsWith('\n')) throw broken('ended too early')
  const [names = [], types = [], ...rows] = text.slice(0, -1).split('\n').map(lineOf)
  const columns = names.map((name, at) => {
    const type = types[at]
    if (typeof name !== 'string' || typeof type !== 'string') throw broken('does not describe its columns')
    return readColumnOf(name, type)
  })
  if (columns.length === 0 || types.length !== columns.length) throw broken('does not describe its columns')
  return { columns, rows }
}

function lineOf(line: string): readonly (string | null)[] {
  const values = parseJson(line)
  if (Array.isArray(values) && values.every((value) => typeof value === 'string' || value === null)) return values
  throw broken('holds a row that is none')
}

/** @param what completes the sentence that begins with the answer */
export const broken = (what: string): ConnectorError =>
  new ConnectorError('malformed_response', `An answer of ClickHouse ${what}. The request is repeated.`)

/** The code of an exception: in a header, or in the body, also after a status that says success and after rows. */
function codeOf({ headers, text }: Answer): number | undefined {
  const found =
    headers.get('x-clickhouse-exception-code') ??
    /(?:^|\n|"exception": ?")Code: (\d{1,4})\. DB::Exception/.exec(text)?.[1]
  const code = Number(found ?? Number.NaN)
  return Number.isInteger(code) && code > 0 ? code : undefined
}

/**
 * Codes of values that cannot be parsed or stored: types, sizes, NULL, constraints.
 * https://github.com/ClickHouse/ClickHouse/blob/master/src/Common/ErrorCodes.cpp
 */
const misfits = new Set([6, 26, 27, 38, 41, 53, 69, 70, 72, 117, 131, 321, 349, 376, 407, 441, 469, 675, 691])
const isRefused = (answer: Answer): boolean => misfits.has(codeOf(answer) ?? 0)

function connectorErrorOf(code: number, answer: Answer): ConnectorError {
  const named = ` (code ${code})`
  if ([192, 193, 194, 516].includes(code)) {
    return new ConnectorError('invalid_credentials', `ClickHouse does not accept the user or the password${named}.`)
  }
  if (code === 164 || code === 452) {
    return new ConnectorError(
      'invalid_setting',
      `The user's settings profile lets a result end early, or restricts settings that the connector needs${named}; set the overflow modes of the profile to throw.`,
    )
  }
  if (code === 497) {
    return new ConnectorError(
      'permission_denied',
      `The user lacks a privilege${named}; grant those that the page of the connector names.`,
    )
  }
  if (code === 60 || code === 81) {
    return new ConnectorError('table_not_found', `There is no such database or table${named}; check the settings.`)
  }
  if (code === 16 || code === 47) {
    return new ConnectorError(
      'column_not_found',
      `The table or query lacks a column that the connector needs${named}; check the settings.`,
    )
  }
  if (code === 202 || code === 252) {
    const { afterMs } = connectorErrorOfStatus('ClickHouse', { ...answer, status: 429 })
    return new ConnectorError('rate_limited', `ClickHouse has too many queries or parts${named}.`, { afterMs })
  }
  if (code === 159) return new ConnectorError('statement_timeout', `The statement took too long${named}.`)
  if ([203, 209, 210, 225, 241, 242, 243, 285, 319, 425, 999].includes(code)) {
    return new ConnectorError(
      'platform_unavailable',
      `ClickHouse is temporarily unavailable or lacks resources${named}.`,
    )
  }
  return new ConnectorError('statement_failed', `ClickHouse cannot run the statement${named}.`)
}
