import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { gunzipSync, zstdDecompressSync } from 'node:zlib'
import type { WarehouseEngine } from './warehouse-engine.ts'

/** A bucket that a storage integration may read. */
export type SnowflakeStorage = {
  readonly integration: string
  /** The beginnings of addresses that it allows. */
  readonly allowed: readonly string[]
  /** The content of an object; `undefined` if there is none. */
  read(bucket: string, key: string): Promise<Buffer | undefined>
}

/** A result of what is run here: every value as text. */
export type LoadResult = { readonly columns: readonly string[]; readonly rows: (string | null)[][] }

/** Functions of Snowflake that give NULL for a text that is no value. */
export const loadMacros = [
  'create macro try_to_double(x) as try_cast(x as double)',
  'create macro try_to_boolean(x) as try_cast(x as boolean)',
  'create macro try_to_date(x) as try_cast(x as date)',
  'create macro try_to_time(x) as try_cast(x as time)',
  'create macro try_parse_json(x) as try_cast(x as json)',
  'create macro regexp_like(x, p) as regexp_full_match(x, p)',
]

/** A statement of a load for DuckDB. */
export const translateLoad = (text: string): string =>
  text
    .replace(/\bnumber\((\d+), (\d+)\)/g, 'decimal($1, $2)')
    .replace(/^create or replace transient table (.*) data_retention_time_in_days = 0$/s, 'create or replace table $1')
    .replace(/try_to_number\((nullif\("C\d+", ''\)), (\d+), (\d+)\)/g, 'try_cast($1 as decimal($2, $3))')
    .replace(
      /to_timestamp_ntz\(convert_timezone\('UTC', try_to_timestamp_tz\((nullif\("C\d+", ''\))\)\)\)/g,
      'make_timestamp(epoch_us(try_cast($1 as timestamptz)))',
    )

const copy =
  /^copy into (\S+) \(([^()]+)\)\s+from '([^']+)' storage_integration = "([^"]+)"\s+files = \((.+?)\)\s+file_format = \((.+)\)\s+on_error = continue force = true$/s
const copyParquet =
  /^copy into (\S+)\s+from '([^']+)' storage_integration = "([^"]+)"\s+files = \((.+?)\)\s+file_format = \(type = parquet\) match_by_column_name = case_sensitive on_error = abort_statement force = true$/s
const validate =
  /^select distinct "FILE", "ROW_NUMBER", "CODE" from table\(validate\(\S+, job_id => '([\w-]+)'\)\) order by 1, 2 limit (\d+)$/
const overwrite = /^insert overwrite into (\S+) \(([^()]+)\) (select .*)$/s

type LoadError = { readonly file: string; readonly row: number; readonly code: string }

/**
 * COPY, VALIDATE and INSERT OVERWRITE, each in the one form that is known here, by the published rules of Snowflake. A COPY reads its files from
 * the storage of a test, and takes the options that matter for CSV.
 */
export function makeSnowflakeLoads(engine: WarehouseEngine, storage: () => SnowflakeStorage | undefined) {
  const errorsOf = new Map<string, LoadError[]>()

  async function copyInto(match: RegExpExecArray, handle: string): Promise<LoadResult> {
    const [, table = '', names = '', url = '', integration, files = '', options = ''] = match
    const from = storage()
    if (!from || integration !== from.integration) throw new Error('Catalog Error: no such integration')
    if (!from.allowed.some((allowed) => url.startsWith(allowed))) throw new Error('Location is not allowed')
    const [, bucket = '', folder = ''] = /^s3:\/\/([^/]+)\/(.*)$/s.exec(url) ?? []
    const option = (name: string) =>
      literalIn(new RegExp(`\\b${name} = ('(?:[^'\\\\]|\\\\.)*'|\\S+)`).exec(options)?.[1] ?? '')
    for (const [name, value] of Object.entries(needed)) {
      if (option(name) !== value) throw new Error(`Parser Error: ${name} is ${option(name)} and not ${value}`)
    }
    const width = names.split(',').length
    const errors: LoadError[] = []
    errorsOf.set(handle, errors)
    const rows: (string | null)[][] = []
    for (const [literal] of files.matchAll(/'(?:[^'\\]|\\.)*'/g)) {
      const name = literalIn(literal)
      const bytes = await from.read(bucket, folder + name)
      if (!bytes) throw new Error(`Remote file '${name}' was not found`)
      const report = (status: string, parsed: number, loaded: number, error: string | null = null) =>
        rows.push([
          `${url}${name}`,
          status,
          `${parsed}`,
          `${loaded}`,
          '1',
          `${parsed - loaded}`,
          error,
          null,
          null,
          null,
        ])
      let text: Buffer
      try {
        text = unpacked(bytes, option('compression'))
      } catch {
        report('LOAD_FAILED', 0, 0, 'Invalid data encountered during decompression')
        continue
      }
      const parsed = recordsOf(text, option('field_delimiter')).slice(1)
      const good = parsed.filter((cells, index) => {
        const code = cells.length !== width ? '100080' : cells.some((cell) => cell?.includes('\ufffd')) ? '100144' : ''
        if (code) errors.push({ file: `${url}${name}`, row: index + 2, code })
        return code === ''
      })
      await insert(table, names, good)
      const isWhole = good.length === parsed.length
      report(isWhole ? 'LOADED' : good.length === 0 ? 'LOAD_FAILED' : 'PARTIALLY_LOADED', parsed.length, good.length)
    }
    return {
      columns: [
        'file',
        'status',
        'rows_parsed',
        'rows_loaded',
        'error_limit',
        'errors_seen',
        'first_error',
        'first_error_line',
        'first_error_character',
        'first_error_column_name',
      ],
      rows,
    }
  }

  /** Parquet files, whose columns are found by their names; an error ends it. */
  async function copyTyped([, table = '', url = '', integration, files = '']: RegExpExecArray): Promise<LoadResult> {
    const from = storage()
    if (!from || integration !== from.integration) throw new Error('Catalog Error: no such integration')
    const [, bucket = '', folder = ''] = /^s3:\/\/([^/]+)\/(.*)$/s.exec(url) ?? []
    const directory = await mkdtemp(join(tmpdir(), 'penstock-parquet-'))
    const rows: (string | null)[][] = []
    try {
      for (const [literal] of files.matchAll(/'(?:[^'\\]|\\.)*'/g)) {
        const name = literalIn(literal)
        const bytes = await from.read(bucket, folder + name)
        if (!bytes) throw new Error(`Remote file '${name}' was not found`)
        const file = join(directory, 'file.parquet')
        await writeFile(file, bytes)
        const { rows: counts } = await engine.run(`insert into ${table} by name select * from read_parquet('${file}')`)
        const count = counts[0]?.[0] ?? ''
        rows.push([`${url}${name}`, 'LOADED', count, count])
      }
    } finally {
      await rm(directory, { recursive: true })
    }
    return { columns: ['file', 'status', 'rows_parsed', 'rows_loaded'], rows }
  }

  async function insert(table: string, names: string, rows: readonly (readonly (string | null)[])[]): Promise<void> {
    const cells = names.split(',').map((_, at) => `v ->> '$[${at}]'`)
    await engine.run(
      `insert into ${table} (${names}) select ${cells.join(', ')} from (select unnest(cast($1 as json)::json[]) as v)`,
      [JSON.stringify(rows)],
    )
  }

  async function overwritten([, table = '', names = '', select = '']: RegExpExecArray): Promise<LoadResult> {
    await engine.run('begin')
    try {
      await engine.run(`delete from ${table}`)
      const { rows } = await engine.run(`insert into ${table} (${names}) ${translateLoad(select)}`)
      await engine.run('commit')
      return { columns: ['number of rows inserted'], rows: rows.map((row) => [...row]) }
    } catch (error) {
      await engine.run('rollback')
      throw error
    }
  }

  return {
    /** Runs a statement of these; `undefined` for all others. Throws what the server turns into a refusal. */
    async run(statement: string, handle: string): Promise<LoadResult | undefined> {
      const copied = copy.exec(statement)
      if (copied) return copyInto(copied, handle)
      const typed = copyParquet.exec(statement)
      if (typed) return copyTyped(typed)
      const validated = validate.exec(statement)
      if (validated) {
        const found = (errorsOf.get(validated[1] ?? '') ?? []).slice(0, Number(validated[2]))
        return {
          columns: ['FILE', 'ROW_NUMBER', 'CODE'],
          rows: found.map(({ file, row, code }) => [file, `${row}`, code]),
        }
      }
      const replaced = overwrite.exec(statement)
      if (replaced) return overwritten(replaced)
      if (/^(copy|insert overwrite)|validate\(/.test(statement)) throw new Error('Parser Error: another form of a load')
      return undefined
    },
  }
}

/** Options without which Snowflake would read other values than are in the files. */
const needed = {
  type: 'csv',
  encoding: 'UTF8',
  skip_header: '1',
  field_optionally_enclosed_by: '"',
  escape: 'none',
  escape_unenclosed_field: 'none',
  null_if: '()',
  empty_field_as_null: 'true',
  trim_space: 'false',
  skip_blank_lines: 'true',
  error_on_column_count_mismatch: 'true',
  replace_invalid_characters: 'false',
}

const literalIn = (literal: string): string =>
  literal.startsWith("'") ? literal.slice(1, -1).replace(/\\(.)/g, (_, each) => (each === 't' ? '\t' : each)) : literal

function unpacked(bytes: Buffer, compression: string): Buffer {
  if (compression === 'gzip') return gunzipSync(bytes)
  return compression === 'zstd' ? zstdDecompressSync(bytes) : bytes
}

/**
 * Records of a text. A cell without anything is NULL, and one with nothing between its quotes is an empty text: EMPTY_FIELD_AS_NULL of Snowflake
 * means two delimiters in a row, and FIELD_OPTIONALLY_ENCLOSED_BY separates an empty text from NULL (“Data unloading considerations”,
 * and COPY INTO); only NULL_IF = ('') would make NULL of both. BigQuery does the same unless a nullMarker is given.
 */
export function recordsOf(bytes: Buffer, delimiter: string): (string | null)[][] {
  const text = bytes.toString('utf8').replace(/^\ufeff/, '')
  const records: (string | null)[][] = []
  let cells: (string | null)[] = []
  for (let at = 0; at < text.length; ) {
    let cell: string | null = null
    if (text[at] === '"') {
      cell = ''
      for (at++; at < text.length; at++) {
        if (text[at] === '"' && text[at + 1] !== '"') break
        if (text[at] === '"') at++
        cell += text[at]
      }
      at++
    } else {
      const from = at
      while (at < text.length && text[at] !== delimiter && text[at] !== '\n') at++
      cell = text.slice(from, at).replace(/\r$/, '') || null
    }
    cells.push(cell)
    if (text[at] === '\r') at++
    if (text[at] === delimiter) {
      at++
      if (at === text.length) cells.push(null)
      continue
    }
    at++
    if (cells.length > 1 || cells[0] !== null) records.push(cells)
    cells = []
  }
  return records
}
