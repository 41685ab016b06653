import type { Batch, Rejection } from '@penstock/connector'
import { type BatchRow, isSha256, rowsOf } from '../platform-api/batch-rows.ts'

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
} as const

/** The identifiers of one person, in the order of the schema; empty where there is none. */
export type Person = readonly string[]

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
]

/**
 * Reads the rows of a batch, and says of those that cannot be sent why.
 * @param replaces whether the run puts its rows in the place of all earlier members
 */
export function readAudienceRows(batch: Batch, replaces: boolean): { rows: AudienceRow[]; rejected: Rejection[] } {
  const schema = schemaOf(batch.columns)
  const rows: AudienceRow[] = []
  const rejected: Rejection[] = []
  for (const row of rowsOf(batch)) {
    const verb = verbOf(row, replaces)
    const person = typeof verb === 'string' ? personOf(row, schema) : verb
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
      return { wrong: 'A transfer that replaces the audience takes only members; leave out who is to be removed.' }
    case 'replace':
      if (replaces) return 'add'
      return {
        wrong: 'A row alone cannot replace an audience; turn on “Replace existing audience” for the connection.',
      }
    default:
      return { wrong: 'The action must be add, remove, delete or replace.' }
  }
}

function personOf(row: BatchRow, schema: readonly string[]): Person | Wrong {
  const values = new Map<string, string>()
  for (const [column, key] of Object.entries(keys)) {
    const value = row.text(column)
    if (value === undefined) continue
    if (column.endsWith('_sha256') && !isSha256(value)) {
      return { wrong: 'The value is no SHA-256 digest of 64 hexadecimal characters.', field: column }
    }
    if (!values.has(key)) values.set(key, value)
  }
  if (values.size === 0) return { wrong: 'The row holds no identifier by which Meta could find the person.' }
  return schema.map((key) => values.get(key) ?? '')
}
