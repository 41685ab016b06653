import type { Batch, Rejection } from '@penstock/connector'
import type { BatchRow } from '../platform-api/rows/batch-rows.ts'
import { type Read, readRows, wrong } from '../platform-api/rows/events.ts'
import { idIn } from './contact-lists.ts'

/** Our columns and Criteo's kinds of identifiers, best first. */
const identifierTypes = {
  email: 'email',
  madid: 'madid',
  identityLink: 'identityLink',
  gum: 'gum',
  phonenumber: 'phoneNumber',
} as const
export type IdentifierType = (typeof identifierTypes)[keyof typeof identifierTypes]

export type ContactRow = {
  readonly index: number
  readonly segmentId: string | undefined
  readonly segmentName: string | undefined
  readonly verb: 'add' | 'remove'
  /** What the person is known by; at least one, the best first. */
  readonly identifiers: readonly (readonly [type: IdentifierType, value: string])[]
}

/** Reads the rows of a batch, and says of those that cannot be sent why. @param takesGum whether a caller ID is set */
export function readContactRows(batch: Batch, takesGum: boolean): { rows: ContactRow[]; rejected: Rejection[] } {
  return readRows(batch, (row) => readRow(row, takesGum))
}

function readRow(row: BatchRow, takesGum: boolean): Read<ContactRow> {
  const verb = row.text('action')?.toLowerCase()
  if (verb !== 'add' && verb !== 'remove') return wrong('The action must be add or remove.', 'action')
  const segmentId = row.text('segment_id')
  if (segmentId !== undefined && idIn(segmentId) === undefined) {
    return wrong('An audience of Criteo has a number as its ID.', 'segment_id')
  }
  const identifiers: [IdentifierType, string][] = []
  for (const [column, type] of Object.entries(identifierTypes)) {
    const value = row.text(column)
    if (value === undefined) continue
    // Criteo takes phone numbers in India alone: one that it refuses is not to sink what else is known of the person.
    if (type === 'phoneNumber' && identifiers.length > 0) continue
    if (type === 'gum' && !takesGum) {
      return wrong('An ID from Criteo’s cookie needs the GUM caller ID of the connection.', 'gum')
    }
    identifiers.push([type, value])
  }
  if (identifiers.length > 0) {
    return { read: { index: row.index, segmentId, segmentName: row.text('segment_name'), verb, identifiers } }
  }
  return row.text('customerid') === undefined
    ? wrong('The row has no identifier that Criteo can use to find the person.', 'email')
    : wrong('Criteo does not accept customer IDs in contact lists of Commerce Growth.', 'customerid')
}
