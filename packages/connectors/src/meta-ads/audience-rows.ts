import type { Batch, Rejection } from '@penstock/connector'
import { type BatchRow, isSha256, rowsOf } from '../platform-api/rows/batch-rows.ts'
import { readNumber } from '../platform-api/rows/event-values.ts'

/** Our columns and what Meta calls them, in the order in which they are sent. */
const keys = {
  email_sha256: 'EMAIL',
  phone_sha256: 'PHONE',
  fname_sha256: 'FN',
  lname_sha256: 'LN',
  postal_code_sha256: 'ZIP',
  country_code_sha256: 'COUNTRY',
  dobm_sha256: 'DOBM',
  dobd_sha256: 'DOBD',
  doby_sha256: 'DOBY',
  maid: 'MADID',
  extern_id: 'EXTERN_ID',
  // Meta has one column for both; what is not hashed is preferred.
  extern_id_sha256: 'EXTERN_ID',
  gender_sha256: 'GEN',
  city_sha256: 'CT',
  state_sha256: 'ST',
  finitial_sha256: 'FI',
  page_scoped_id: 'PAGEUID',
} as const
const valueKey = 'LOOKALIKE_VALUE'

/** The column of IDs that people have for a page. */
export const pageScopedColumn = 'page_scoped_id'
/** The column that says what a person is worth. */
export const valueColumn = 'lookalike_value'

/** The identifiers of one person, in the order of the schema, empty where there is none; a number where it is the value. */
export type Person = readonly (string | number)[]

export type AudienceRow = {
  readonly index: number
  readonly segmentId: string | undefined
  readonly segmentName: string | undefined
  readonly verb: 'add' | 'remove'
  readonly person: Person
}

/** What Meta calls the columns that a transfer has; the same for all of its batches. */
export const schemaOf = (columns: readonly string[]): string[] => [
  ...new Set(Object.entries(keys).flatMap(([column, key]) => (columns.includes(column) ? [key] : []))),
  ...(columns.includes(valueColumn) ? [valueKey] : []),
]

/** What identifies a person: all but the value. */
export const identityOf = (person: Person): string =>
  person.map((value) => (typeof value === 'string' ? value : '')).join('\n')

/**
 * Reads the rows of a batch, and says of those that cannot be sent why.
 * @param replaces whether the transfer replaces all earlier members with its rows
 */
export function readAudienceRows(batch: Batch, replaces: boolean): { rows: AudienceRow[]; rejected: Rejection[] } {
  const schema = schemaOf(batch.columns)
  const rows: AudienceRow[] = []
  const rejected: Rejection[] = []
  for (const row of rowsOf(batch)) {
    const verb = verbOf(row, replaces)
    const person = typeof verb === 'string' ? personOf(row, schema, verb) : verb
    const segmentId = row.text('segment_id')
    if (typeof verb !== 'string') rejected.push({ index: row.index, field: 'action', reason: verb.wrong })
    else if ('wrong' in person) rejected.push({ index: row.index, reason: person.wrong, ...fieldOf(person.field) })
    else if (segmentId !== undefined && !/^\d+$/.test(segmentId)) {
      rejected.push({ index: row.index, field: 'segment_id', reason: 'An audience of Meta has a number as its ID.' })
    } else rows.push({ index: row.index, segmentId, segmentName: row.text('segment_name'), verb, person })
  }
  return { rows, rejected }
}

type Wrong = { readonly wrong: string; readonly field?: string }
const fieldOf = (field: string | undefined): { field?: string } => (field === undefined ? {} : { field })

function verbOf(row: BatchRow, replaces: boolean): 'add' | 'remove' | Wrong {
  switch (row.text('action')?.toLowerCase()) {
    case 'add':
      return 'add'
    case 'remove':
    case 'delete':
      if (!replaces) return 'remove'
      return {
        wrong: 'A transfer that replaces the audience accepts only members to add; leave out rows that remove people.',
      }
    case 'replace':
      if (replaces) return 'add'
      return {
        wrong: 'A single row cannot replace an audience; turn on “Replace existing audience” for the connection.',
      }
    default:
      return { wrong: 'The action must be add, remove, delete or replace.' }
  }
}

function personOf(row: BatchRow, schema: readonly string[], verb: 'add' | 'remove'): Person | Wrong {
  const values = new Map<string, string | number>()
  for (const [column, key] of Object.entries(keys)) {
    const value = row.text(column)
    if (value === undefined) continue
    if (column.endsWith('_sha256') && !isSha256(value)) {
      return { wrong: 'The value is not a SHA-256 digest of 64 hexadecimal characters.', field: column }
    }
    if (!values.has(key)) values.set(key, value)
  }
  if (values.size === 0) {
    return { wrong: 'The row has no identifier that Meta can use to find the person.', field: 'email_sha256' }
  }
  const value = readNumber(row, valueColumn)
  if ('wrong' in value) return value
  if ((value.read ?? 0) < 0) return { wrong: 'The value must not be negative.', field: valueColumn }
  // Who is removed is found by the identifiers alone.
  if (value.read !== undefined && verb === 'add') values.set(valueKey, value.read)
  return schema.map((key) => values.get(key) ?? '')
}
