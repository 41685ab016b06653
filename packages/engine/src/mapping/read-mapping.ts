import { normalisations, type RecordField, type Records } from '@penstock/connector'
import type { FieldError } from '@penstock/wire'
import { digests } from '@penstock/wire/rules'
import { scanJson } from './json-text.ts'
import { list } from './wording.ts'

/**
 * Which column of the source fills a field of the destination: its name; `null` where the field is to stay empty; or one
 * value for all rows. Where the destination takes any columns, a column can also be brought into a form and hashed on its
 * way; a destination with fields of its own says for itself in which form it wants them.
 */
export type MappingEntry = string | null | { readonly value: string } | ColumnEntry
export type ColumnEntry = {
  readonly column: string
  readonly normalise?: NonNullable<RecordField['normalise']>
  readonly hash?: NonNullable<RecordField['hashed']>[number]
}

/** What a caller decides about fields, by the destination's name of the field. */
export type Mapping = Readonly<Record<string, MappingEntry>>

const lengthMax = 64 * 1024

/**
 * Reads a mapping from the text of a JSON object:
 * `{"email": "E-Mail", "phone": null, "action": {"value": "add"}, "em": {"column": "E-Mail", "normalise": "email", "hash": "sha256"}}`.
 * An empty text is no mapping. Otherwise either the mapping or all errors at once, each naming its field.
 * @param path the path of the text in the request, for the errors
 */
export function readMapping(text: string | undefined, path: string): { mapping?: Mapping; fieldErrors: FieldError[] } {
  if (text === undefined || text.trim() === '') return { fieldErrors: [] }
  const invalid = (message: string) => ({ fieldErrors: [{ field: path, message }] })
  if (text.length > lengthMax) return invalid(`must have at most ${lengthMax} characters`)
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

/** A mapping may have thousands of fields, and an answer not as many errors. */
const fieldErrorsMax = 100

/**
 * What is wrong with a mapping whatever columns the source has.
 * @param records the fields of the destination; absent, or none, where it takes any columns
 */
export function mappingErrors(text: string, records: Records | undefined, path: string): FieldError[] {
  const { mapping = {}, fieldErrors } = readMapping(text, path)
  if (!records) return fieldErrors.slice(0, fieldErrorsMax)
  const recordErrors = Object.entries(mapping).flatMap(([field, entry]) => {
    const message = fieldErrorOf(records, field, entry)
    return message === undefined ? [] : [{ field: `${path}.${field}`, message }]
  })
  return [...fieldErrors, ...recordErrors].slice(0, fieldErrorsMax)
}

/** Why a destination with fields of its own does not accept an entry, whatever columns the source has. */
export function fieldErrorOf(records: Records, field: string, entry: MappingEntry): string | undefined {
  if (!Object.hasOwn(records, field)) {
    return `is not a field of the destination; its fields are ${list(Object.keys(records))}`
  }
  const hasForm = entry !== null && typeof entry === 'object' && 'column' in entry && (entry.normalise || entry.hash)
  return hasForm ? 'defines its own format: set only the column' : undefined
}

const form = '{"field of the destination": "column of the source"}'

const entryForm = 'must be the name of a column, null, {"value": "…"} or {"column": "…"}'

/** What is wrong with an entry; nothing where it is one. */
function entryErrorsOf(entry: unknown): string[] {
  if (entry === null) return []
  if (typeof entry === 'string') return entry === '' ? ['has no column: set one, or use null'] : []
  if (typeof entry !== 'object' || Array.isArray(entry)) return [entryForm]
  if ('value' in entry) {
    const { value, ...rest } = entry
    return [...(typeof value === 'string' ? [] : ['value must be a text']), ...unknownParts(rest, 'value stands alone')]
  }
  if (!('column' in entry)) return [entryForm]
  const { column, normalise, hash, ...rest } = entry as Record<string, unknown>
  return [
    ...(typeof column === 'string' && column !== '' ? [] : ['column must be the name of a column']),
    ...notOneOf('normalise', normalise, normalisations),
    ...notOneOf('hash', hash, digests),
    ...unknownParts(rest, 'beside column stand normalise and hash'),
  ]
}

const notOneOf = (part: string, value: unknown, known: readonly string[]): string[] =>
  value === undefined || known.some((one) => one === value) ? [] : [`${part} must be one of ${known.join(', ')}`]

const unknownParts = (rest: object, known: string): string[] =>
  Object.keys(rest).map((part) => `${part} is unknown: ${known}`)

/** An offset in a text as people count. */
function placeOf(offset: number, text: string): string {
  const lines = text.slice(0, offset).split('\n')
  return `line ${lines.length}, column ${(lines.at(-1) ?? '').length + 1}`
}
