import { normalisations, type RecordField, type Records } from '@penstock/connector'
import { dateForms, isTimezone, type LocalForm, numberForms } from '@penstock/expressions/local'
import type { FieldError } from '@penstock/wire'
import { digests } from '@penstock/wire/rules'
import { scanJson } from './json-text.ts'
import { list } from './wording.ts'

/**
 * Defines what fills a field of the destination: the name of a column; `null` for a field that stays empty; one value for all
 * rows; or an expression that is computed for each row. If the destination accepts any columns, a column can also be normalised
 * and hashed. A destination with defined fields determines their form itself. In both cases, an entry can define how numbers and
 * times of a column are written, replacements for single values, and a default for empty values.
 */
export type MappingEntry = string | null | { readonly value: string } | ColumnEntry | ExpressionEntry
export type ColumnEntry = EntryForm & { readonly column: string }
/** An entry that computes values from the columns of a row: docs/expressions.md. */
export type ExpressionEntry = EntryForm & { readonly expression: string }
/** The form of the values of an entry. */
export type EntryForm = LocalForm & {
  /** Replacements for single values of the column, compared without case and surrounding spaces; `null` means no value. */
  readonly values?: Readonly<Record<string, string | null>>
  /** The value of records in which the column is empty. */
  readonly default?: string
  readonly normalise?: NonNullable<RecordField['normalise']>
  readonly hash?: NonNullable<RecordField['hashed']>[number]
}

/** Mapping entries of a caller, by the destination's name of the field. */
export type Mapping = Readonly<Record<string, MappingEntry>>

/** Characters of the text of a mapping. */
export const mappingLengthMax = 64 * 1024

/**
 * Reads a mapping from the text of a JSON object: `{"email": "E-Mail", "phone": null, "action": {"value": "add"}, "em":
 * {"column": "E-Mail", "normalise": "email", "hash": "sha256"}}`. An empty text is no mapping. Otherwise returns either the
 * mapping or all errors together, each with its field.
 * @param path the path of the text in the request, for the errors
 */
export function readMapping(text: string | undefined, path: string): { mapping?: Mapping; fieldErrors: FieldError[] } {
  if (text === undefined || text.trim() === '') return { fieldErrors: [] }
  const invalid = (message: string) => ({ fieldErrors: [{ field: path, message }] })
  if (text.length > mappingLengthMax) return invalid(`must have at most ${mappingLengthMax} characters`)
  const { brokenAt, repeated } = scanJson(text)
  if (brokenAt !== undefined) return invalid(`is not JSON at ${placeOf(brokenAt, text)}: write an object, ${form}`)
  const read: unknown = JSON.parse(text)
  if (typeof read !== 'object' || read === null || Array.isArray(read)) return invalid(`must be a JSON object: ${form}`)
  const fieldErrors: FieldError[] = repeated.map(([field = '', part]) => ({
    field: `${path}.${field}`,
    message: part === undefined ? 'is mapped twice: keep one entry' : `has ${part} twice: keep one`,
  }))
  const entries: [string, MappingEntry][] = []
  for (const [field, entry] of Object.entries(read)) {
    const entryErrors = entryErrorsOf(entry)
    if (entryErrors.length === 0) entries.push([field, entry])
    else fieldErrors.push({ field: `${path}.${field}`, message: entryErrors.join('; ') })
  }
  return fieldErrors.length > 0 ? { fieldErrors } : { mapping: Object.fromEntries(entries), fieldErrors }
}

/** Why a destination with defined fields does not accept an entry for any columns of the source. */
export function fieldErrorOf(records: Records, field: string, entry: MappingEntry): string | undefined {
  if (!Object.hasOwn(records, field)) {
    return `is not a field of the destination; its fields are ${list(Object.keys(records))}`
  }
  if (entry === null || typeof entry !== 'object' || 'value' in entry) return undefined
  if (entry.normalise || entry.hash) return 'defines its own format: leave normalise and hash out'
  const { reads } = records[field] ?? {}
  if (entry.numbers && reads !== 'number') return 'holds no numbers: leave numbers out'
  if ((entry.dates || entry.timezone) && reads !== 'time') return 'holds no times: leave dates and timezone out'
  return undefined
}

const form = '{"field of the destination": "column of the source"}'

const entryForm = 'must be the name of a column, null, {"value": "…"}, {"column": "…"} or {"expression": "…"}'

/** Errors of an entry; an empty list if it is valid. */
function entryErrorsOf(entry: unknown): string[] {
  if (entry === null) return []
  if (typeof entry === 'string') return entry === '' ? ['has no column: set one, or use null'] : []
  if (typeof entry !== 'object' || Array.isArray(entry)) return [entryForm]
  if ('value' in entry) {
    const { value, ...rest } = entry
    return [...(typeof value === 'string' ? [] : ['value must be a text']), ...unknownParts(rest, 'value stands alone')]
  }
  if ('column' in entry === 'expression' in entry) return [entryForm]
  const {
    column,
    expression,
    normalise,
    hash,
    numbers,
    unit,
    dates,
    timezone,
    values,
    default: fallback,
    ...rest
  } = entry as Record<string, unknown>
  const isZone = timezone === undefined || (typeof timezone === 'string' && isTimezone(timezone))
  return [
    ...('column' in entry ? wrongColumn(column) : wrongExpression(expression)),
    ...notOneOf('normalise', normalise, normalisations),
    ...notOneOf('hash', hash, digests),
    ...notOneOf('numbers', numbers, numberForms),
    ...wrongUnit(unit, numbers),
    ...notOneOf('dates', dates, dateForms),
    ...(isZone ? [] : ['timezone must be the name of a time zone, such as Europe/Berlin']),
    ...(values === undefined || areAnswers(values) ? [] : ['values must be an object of texts or null, one at least']),
    ...(fallback === undefined || (typeof fallback === 'string' && fallback !== '') ? [] : ['default must be a text']),
    ...unknownParts(
      rest,
      'beside column and expression stand normalise, hash, numbers, unit, dates, timezone, values and default',
    ),
  ]
}

const wrongColumn = (column: unknown): string[] =>
  typeof column === 'string' && column !== '' ? [] : ['column must be the name of a column']

const wrongExpression = (expression: unknown): string[] =>
  typeof expression === 'string' ? [] : ['expression must be a text']

/** Characters of the longest unit of a number. */
const unitLengthMax = 8

function wrongUnit(unit: unknown, numbers: unknown): string[] {
  if (unit === undefined) return []
  if (typeof unit !== 'string' || unit.length > unitLengthMax || !/^[^\d\s.,+-]+$/.test(unit)) {
    return [`unit must be the sign or word next to a number, such as € or %, with at most ${unitLengthMax} characters`]
  }
  return numbers === undefined ? ['unit needs numbers: say how the numbers are written, "comma" or "point"'] : []
}

const areAnswers = (values: unknown): boolean =>
  typeof values === 'object' &&
  values !== null &&
  !Array.isArray(values) &&
  Object.keys(values).length > 0 &&
  Object.values(values).every((to) => to === null || (typeof to === 'string' && to !== ''))

const notOneOf = (part: string, value: unknown, known: readonly string[]): string[] =>
  value === undefined || known.some((one) => one === value) ? [] : [`${part} must be one of ${known.join(', ')}`]

const unknownParts = (rest: object, known: string): string[] =>
  Object.keys(rest).map((part) => `${part} is unknown: ${known}`)

/** How the values of a column become values of a field, as far as an entry defines it. */
export type ColumnReading = {
  /** How they are written. */
  readonly local?: LocalForm
  readonly values?: NonNullable<ColumnEntry['values']>
  readonly default?: string
}

/** The reading of its column that an entry defines. */
export function readingOf(entry: MappingEntry): ColumnReading {
  if (entry === null || typeof entry === 'string' || 'value' in entry) return {}
  const { numbers, unit, dates, timezone, values, default: fallback } = entry
  const local = {
    ...(numbers && { numbers }),
    ...(unit && { unit }),
    ...(dates && { dates }),
    ...(timezone && { timezone }),
  }
  return {
    ...(Object.keys(local).length > 0 && { local }),
    ...(values && { values }),
    ...(fallback !== undefined && { default: fallback }),
  }
}

/** An offset in a text as people count. */
function placeOf(offset: number, text: string): string {
  const lines = text.slice(0, offset).split('\n')
  return `line ${lines.length}, column ${(lines.at(-1) ?? '').length + 1}`
}
