import type { ColumnType, TableForm } from '@penstock/connector'
import type { StoredFile } from '@penstock/connector/files'
import type { LoadedColumn } from '../kit/warehouse/loaded-rows.ts'
import { makeLoadRules, withCommon } from '../kit/warehouse/loaded-values.ts'
import { type DatabricksColumn, quoteName, quoteText } from './target-columns.ts'

const replaced = (text: string, pattern: string, by: string): string => `regexp_replace(${text}, '${pattern}', '${by}')`

const rules = makeLoadRules({
  contains: (text, pattern) => `regexp_like(${text}, '${pattern}')`,
  replaced,
  tryCast: (text, type) => `try_cast(${type === 'timestamp' ? inUtc(text) : text} as ${type})`,
  isInfinite: (number) => `abs(${number}) > 1.7976931348623157E308`,
  trim: 'btrim',
  types: { decimal: 'decimal(38, 9)', float: 'double', text: 'string' },
})

/** A time in UTC, without its zone. */
const asLocal = (time: string): string =>
  `timestampadd(MICROSECOND, unix_micros(${time}), TIMESTAMP_NTZ'1970-01-01 00:00:00')`

/** A time without an offset would be one in the time zone of the session. */
const inUtc = (text: string): string =>
  replaced(replaced(text, '^([0-9-]{10})$', '$1 00:00:00'), '^([0-9-]{10} [0-9:.]+)$', '$1+00:00')

/**
 * How a column is filled from the text of a column of the staging table, by the rules with which `target-columns.ts` reads cells.
 * @param text SQL of the text: NULL if the file has nothing there
 * @returns `undefined` for a type whose texts only a worker reads
 */
export function loadedColumn({ type, needed }: DatabricksColumn, text: string): LoadedColumn | undefined {
  const typed = typedColumn(type, text)
  const filled = /^(STRING|(VAR)?CHAR)/.test(type) ? text : rules.filled(text)
  return (
    typed &&
    withCommon(typed, text, {
      needed: needed ? filled : undefined,
      contains: (of) => `instr(${of}, '\ufffd') > 0`,
    })
  )
}

const wholes: Readonly<Record<string, string>> = {
  TINYINT: 'tinyint',
  BYTE: 'tinyint',
  SMALLINT: 'smallint',
  SHORT: 'smallint',
  INT: 'int',
  INTEGER: 'int',
  BIGINT: 'bigint',
  LONG: 'bigint',
}

function typedColumn(type: string, text: string): LoadedColumn | undefined {
  const [, precision, scale] = /^DECIMAL\((\d{1,2}),(\d{1,2})\)$/.exec(type.replaceAll(' ', '')) ?? []
  if (precision !== undefined) return rules.decimal(text, type, [Number(precision) - Number(scale), Number(scale)])
  const [, length] = /^(?:VAR)?CHAR\((\d{1,9})\)$/.exec(type) ?? []
  if (length !== undefined) return rules.text(text, Number(length))
  const whole = wholes[type]
  if (whole !== undefined) return rules.whole(text, whole)
  switch (type) {
    case 'STRING':
      return rules.text(text, undefined)
    case 'DOUBLE':
      return rules.float(text)
    case 'BOOLEAN':
      return rules.truth(text)
    case 'DATE':
      return rules.date(text)
    case 'TIMESTAMP':
      return rules.time(text, (time) => time)
    case 'TIMESTAMP_NTZ':
      return rules.time(text, asLocal)
    default:
      return undefined
  }
}

/** A column of the staging table, by the index of the column of the source. */
export const stagedName = (index: number): string => `c${index}`
/** The column of the staging table that has a row which has another number of values than the header. */
export const unreadName = 'penstock_unread'

/** SQL of the texts that a worker has for the values of a column of a Parquet file. */
export function textOfTyped(name: string, type: ColumnType | null): string {
  const column = quoteName(name)
  // Without a time zone of the session.
  if (type?.kind === 'instant') return `concat(cast(${asLocal(column)} as string), 'Z')`
  return `cast(${column} as string)`
}

/** SQL that reads Parquet files, with their own columns. */
export const parquetSql = (bucket: string, files: readonly StoredFile[]): string =>
  `read_files(${quoteText(pathOf(bucket, files))}, format => 'parquet', schemaEvolutionMode => 'none')`

/** A path for several files in one folder. */
function pathOf(bucket: string, files: readonly StoredFile[]): string {
  const folder = (files[0]?.name ?? '').replace(/[^/]*$/, '')
  const names = files.map(({ name }) => name.slice(folder.length))
  return `s3://${bucket}/${folder}${names.length === 1 ? names[0] : `{${names.join(',')}}`}`
}

/**
 * SQL that reads files in the order of the staging table's columns. Rows of another width come with their text in the last one.
 * @param missing a text that no cell has: by it, an empty cell differs from one that has nothing between its quotes
 */
export function filesSql(
  { bucket, files, form }: { readonly bucket: string; readonly files: readonly StoredFile[]; readonly form: TableForm },
  sourceColumns: readonly string[],
  missing: string,
): string {
  const path = pathOf(bucket, files)
  const schema = [...form.columns.map((name) => stagedName(sourceColumns.indexOf(name))), unreadName]
  return `read_files(${quoteText(path)}, format => 'csv', schema => '${schema.map((name) => `${name} string`).join(', ')}', schemaEvolutionMode => 'none', mode => 'PERMISSIVE', columnNameOfCorruptRecord => '${unreadName}', header => true, sep => ${quoteText(form.delimiter)}, quote => '"', escape => '"', multiLine => true, nullValue => '${missing}', emptyValue => '', encoding => 'UTF-8', ignoreLeadingWhiteSpace => false, ignoreTrailingWhiteSpace => false)`
}
