import {
  asConnectorError,
  type ConnectorContext,
  ConnectorError,
  type LoadPart,
  type LoadRejection,
  type TableForm,
} from '@penstock/connector'
import { countOf } from '../kit/warehouse/loaded-rows.ts'
import { quoteName, type StatementPlace } from './plan.ts'
import type { SnowflakeRow } from './result-rows.ts'
import type { SnowflakeStatement, SqlApi } from './sql-api.ts'

/** The report of Snowflake on one COPY. */
export type Copied = {
  /** The ID of the statement, by which the rows are found that were not loaded. */
  readonly handle: string
  /** Rows in the files, and rows that are in the staging table. */
  readonly parsed: number
  readonly loaded: number
}

/** The target of a copy, and its storage integration. */
export type CopyTarget = {
  readonly api: SqlApi
  readonly at: StatementPlace
  readonly staging: string
  readonly integration: string
}

/**
 * Copies files into the staging table, with one statement for all. Rows that Snowflake cannot read are skipped and counted. The
 * statement is cancelled with the signal of the context.
 */
export async function copyFiles(
  { api, at, staging, integration }: CopyTarget,
  {
    bucket,
    signal,
    sourceColumns,
  }: Pick<ConnectorContext, 'signal'> & {
    readonly bucket: string
    readonly sourceColumns: readonly string[]
  },
  { form, files }: LoadPart,
): Promise<Copied> {
  const folder = folderOf(files[0]?.name ?? '')
  const names = files.map(({ name }) => textSql(name.slice(folder.length)))
  const columns = form.columns.map((name) => `"C${sourceColumns.indexOf(name)}"`)
  const text = `copy into ${staging}${form.types ? '' : ` (${columns.join(', ')})`}
    from ${textSql(`s3://${bucket}/${folder}`)} storage_integration = ${quoteName(integration)}
    files = (${names.join(', ')})
    ${form.types ? parquetOptions : csvOptions(form)} force = true`
  const { handle, rows } = await asLoading(integration, () => runLong(api, { ...at, text }, signal))
  return reported(handle, rows, files.length)
}

/** Columns are filled by their names. */
const parquetOptions = 'file_format = (type = parquet) match_by_column_name = case_sensitive on_error = abort_statement'

const csvOptions = (
  form: TableForm,
): string => `file_format = (type = csv compression = ${form.compression} encoding = 'UTF8' skip_header = 1
      field_delimiter = ${textSql(form.delimiter)} field_optionally_enclosed_by = '"' escape = none
      escape_unenclosed_field = none null_if = () empty_field_as_null = true trim_space = false
      skip_blank_lines = true error_on_column_count_mismatch = true replace_invalid_characters = false)
    on_error = continue`

/** Runs a statement that may take hours and gives few rows; it is cancelled with the signal. Throws a `ConnectorError`. */
export async function runLong(
  api: SqlApi,
  statement: SnowflakeStatement,
  signal: AbortSignal,
): Promise<{ readonly handle: string; readonly rows: readonly SnowflakeRow[] }> {
  const handle = await api.start(statement)
  try {
    const rows: SnowflakeRow[] = []
    for await (const some of api.page(handle, 0)) rows.push(...some)
    return { handle, rows }
  } catch (error) {
    if (signal.aborted) await api.cancel(handle)
    throw error
  }
}

/** Adds up the lines of a COPY, one for each file: file, status, rows parsed, rows loaded, and what was wrong. */
function reported(handle: string, rows: readonly SnowflakeRow[], files: number): Copied {
  if (rows.length !== files) {
    throw new ConnectorError(
      'unexpected_response',
      'Snowflake did not report on as many files as it was asked to load.',
    )
  }
  let parsed = 0
  let loaded = 0
  for (const [file, status, inFile, taken] of rows) {
    // A file that cannot be read at all has no row; one without a good row has been parsed.
    if (status === 'LOAD_FAILED' && countIn(inFile) === 0) {
      const name = (file ?? '').slice((file ?? '').lastIndexOf('/') + 1)
      throw new ConnectorError('invalid_file', `Snowflake cannot read ${name}. Write the file again, or remove it.`)
    }
    parsed += countIn(inFile)
    loaded += countIn(taken)
  }
  if (loaded > parsed)
    throw new ConnectorError('unexpected_response', 'Snowflake reports more rows than the files have.')
  return { handle, parsed, loaded }
}

/** The rows that a COPY left out, as far as Snowflake lists them; the others are counted. */
export async function unreadRows(
  run: (text: string) => Promise<{ readonly rows: readonly SnowflakeRow[] }>,
  staging: string,
  handle: string,
  count: number,
  rejectsMax: number,
): Promise<LoadRejection[]> {
  const limit = Math.max(0, Math.min(count, rejectsMax))
  const text = `select distinct "FILE", "ROW_NUMBER", "CODE" from table(validate(${staging}, job_id => '${handle}')) order by 1, 2 limit ${limit}`
  const rejected: LoadRejection[] = []
  const seen = new Set<string>()
  for (const [file, row, code] of limit === 0 ? [] : (await run(text)).rows) {
    const place = `row ${row ?? '?'} of ${(file ?? '').slice((file ?? '').lastIndexOf('/') + 1)}`
    // A row can have several errors.
    if (seen.has(place)) continue
    seen.add(place)
    rejected.push({ count: 1, reason: `${unreadable[code ?? ''] ?? 'Snowflake cannot read the row'} (${place}).` })
  }
  const others = count - rejected.length
  return others > 0 ? [...rejected, { count: others, reason: 'Snowflake cannot read the row.' }] : rejected
}

const unreadable: Readonly<Record<string, string>> = {
  '100080': 'The row has another number of values than the header',
  '100144': 'The row is not valid UTF-8 text',
}

/** Adds advice to an error: Snowflake may have no access to the bucket. */
async function asLoading<T>(integration: string, call: () => Promise<T>): Promise<T> {
  try {
    return await call()
  } catch (error) {
    const known = asConnectorError(error)
    if (!known || known.isTransient) throw error
    const advice = `Snowflake cannot load the files through the storage integration ${integration}: check that it exists, that it allows the folder, and that the role may use it, or have the rows pass Penstock.`
    throw known.with({ message: `${advice} ${known.message}` })
  }
}

/** The folder of an object with its slash; empty at the top of a bucket. */
const folderOf = (name: string): string => name.slice(0, name.lastIndexOf('/') + 1)

/** A text as a literal: a backslash begins an escape sequence. */
const textSql = (text: string): string => `'${text.replace(/[\\']/g, '\\$&').replaceAll('\t', '\\t')}'`

/** A count that Snowflake reports. */
export const countIn = (text: string | null | undefined): number => countOf('Snowflake', text)
