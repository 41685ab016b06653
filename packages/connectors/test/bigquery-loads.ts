import assert from 'node:assert/strict'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { gunzipSync } from 'node:zlib'
import { Refusal, type TableReference } from './bigquery-tables.ts'
import { recordsOf } from './snowflake-loads.ts'
import type { WarehouseEngine } from './warehouse-engine.ts'

/** BigQuery's macros and casts in DuckDB, for texts that were loaded. */
export const loadMacros = [
  'create macro regexp_contains(x, p) as regexp_matches(x, p)',
  'create macro is_inf(x) as isinf(x)',
  'create macro datetime(x, zone) as make_timestamp(epoch_us(x))',
]

const casts: Readonly<Record<string, string>> = {
  int64: 'bigint',
  float64: 'double',
  numeric: 'decimal(38, 9)',
  bignumeric: 'decimal(38, 19)',
  timestamp: 'timestamptz',
}

/** Casts and raw strings for DuckDB. */
export const translateLoaded = (text: string): string =>
  text
    .replaceAll('safe_cast(', 'try_cast(')
    .replace(/ as (int64|float64|numeric|bignumeric|timestamp)\)/g, (_, type: string) => ` as ${casts[type]})`)
    .replace(/\br'/g, "'")

/** A load of files, as the API describes it. */
export type FilesConfiguration = { readonly sourceUris: readonly string[]; readonly destinationTable: TableReference }

/** Options without which BigQuery would read other values than are in the files. */
const needed = {
  sourceFormat: 'CSV',
  encoding: 'UTF-8',
  quote: '"',
  skipLeadingRows: 1,
  allowQuotedNewlines: true,
  allowJaggedRows: false,
  ignoreUnknownValues: false,
  preserveAsciiControlCharacters: true,
  maxBadRecords: 2_147_483_647,
  createDisposition: 'CREATE_NEVER',
  writeDisposition: 'WRITE_APPEND',
}
/** BigQuery reports on so many rows of a load. */
const errorsMax = 5

export type FilesLoaded = {
  readonly statistics: { readonly load: { readonly outputRows: string; readonly badRecords: string } }
  readonly warnings: readonly { readonly reason: string; readonly message: string }[]
}

/** Loads Parquet files into a table, columns by their names. */
async function loadParquetInto(
  engine: WarehouseEngine,
  { sourceUris, destinationTable }: FilesConfiguration,
  read: (bucket: string, name: string) => Buffer | undefined,
): Promise<FilesLoaded> {
  const directory = await mkdtemp(join(tmpdir(), 'penstock-parquet-'))
  let rows = 0
  try {
    for (const uri of sourceUris) {
      const [, bucket = '', name = ''] = /^gs:\/\/([^/]+)\/(.+)$/s.exec(uri) ?? []
      const bytes = read(bucket, name)
      if (!bytes) throw new Refusal(404, 'notFound', `Not found: URI ${uri}`)
      const file = join(directory, 'file.parquet')
      await writeFile(file, bytes)
      const text = `insert into crm."${destinationTable.tableId}" by name select * from read_parquet('${file}')`
      rows += Number((await engine.run(text)).rows[0]?.[0])
    }
  } finally {
    await rm(directory, { recursive: true })
  }
  return { statistics: { load: { outputRows: String(rows), badRecords: '0' } }, warnings: [] }
}

/** Loads CSV files into a table of texts by the published rules of BigQuery: columns by their places, rows of another width left out. */
export async function loadFilesInto(
  engine: WarehouseEngine,
  configuration: FilesConfiguration,
  read: (bucket: string, name: string) => Buffer | undefined,
): Promise<FilesLoaded> {
  const { sourceUris, destinationTable, ...options } = configuration
  if ('sourceFormat' in options && options.sourceFormat === 'PARQUET') {
    const { createDisposition, writeDisposition } = needed
    assert.deepEqual(options, { sourceFormat: 'PARQUET', createDisposition, writeDisposition })
    return loadParquetInto(engine, configuration, read)
  }
  const { fieldDelimiter = ',', ...others } = options as Record<string, unknown>
  assert.deepEqual(others, needed)
  const { rows: columns } = await engine.run(
    `select column_name from information_schema.columns where table_schema = 'crm' and table_name = $1 order by ordinal_position`,
    [destinationTable.tableId],
  )
  if (columns.length === 0) throw new Refusal(404, 'notFound', 'Not found: Table')
  const good: (string | null)[][] = []
  const warnings: { reason: string; message: string }[] = []
  for (const uri of sourceUris) {
    const [, bucket = '', name = ''] = /^gs:\/\/([^/]+)\/(.+)$/s.exec(uri) ?? []
    const bytes = read(bucket, name)
    if (!bytes) throw new Refusal(404, 'notFound', `Not found: URI ${uri}`)
    let text = bytes
    if (bytes[0] === 0x1f && bytes[1] === 0x8b) {
      try {
        text = gunzipSync(bytes)
      } catch {
        throw new Refusal(400, 'invalid', `Error while reading data, error message: the file is damaged. File: ${uri}`)
      }
    }
    for (const [index, cells] of recordsOf(text, String(fieldDelimiter)).slice(1).entries()) {
      if (cells.length === columns.length) {
        good.push(cells)
        continue
      }
      const what =
        cells.length > columns.length
          ? 'Too many values in line'
          : `CSV table references column position ${cells.length}, but line contains only ${cells.length} columns`
      const message = `Error while reading data, error message: ${what}.; line_number: ${index + 2} byte_offset_to_start_of_line: 0 File: ${uri}`
      warnings.push({ reason: 'invalid', message })
    }
  }
  const cells = columns.map((_, at) => `v ->> '$[${at}]'`)
  await engine.run(
    `insert into crm."${destinationTable.tableId}" select ${cells.join(', ')} from (select unnest(cast($1 as json)::json[]) as v)`,
    [JSON.stringify(good)],
  )
  const load = { outputRows: String(good.length), badRecords: String(warnings.length) }
  return { statistics: { load }, warnings: warnings.slice(0, errorsMax) }
}
