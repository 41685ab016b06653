import type { Batch, Rejection } from '@penstock/connector'
import type { BatchRow } from '../platform-api/rows/batch-rows.ts'
import { type Read, readRows, wrong } from '../platform-api/rows/events.ts'
import type { AddressColumns, AudiencePlan } from './audience-plans.ts'
import { type Consent, consentOfRow } from './consent.ts'
import { contactColumns, identifiersOf } from './user-identifiers.ts'

export type ListRow = {
  readonly index: number
  readonly segmentId: string | undefined
  readonly segmentName: string | undefined
  readonly verb: 'add' | 'remove'
  /** A member as the Data Manager takes it; with a consent of its own where the row says one and the person joins. */
  readonly member: { readonly consent?: Consent }
  /** The same for the same person, whatever the consent. */
  readonly identity: string
}

type Member = { readonly member: object } | { readonly reason: string; readonly field: string }

/** Reads the rows of a batch. What would make Google refuse the whole request is rejected here, row by row. */
export function readListRows(batch: Batch, plan: AudiencePlan): { rows: ListRow[]; rejected: Rejection[] } {
  const { deviceColumn, address } = plan
  const memberOf = deviceColumn === undefined ? contactOf(address) : deviceOf(deviceColumn)
  return readRows(batch, (row) => readRow(row, plan, memberOf))
}

function readRow(row: BatchRow, { consents }: AudiencePlan, memberOf: (row: BatchRow) => Member): Read<ListRow> {
  const verb = row.text('action')?.toLowerCase()
  const segmentId = row.text('segment_id')
  if (verb !== 'add' && verb !== 'remove') return wrong('The action must be add or remove.', 'action')
  if (segmentId !== undefined && !/^\d+$/.test(segmentId)) {
    return wrong('A list of Google has a number as its ID.', 'segment_id')
  }
  const found = memberOf(row)
  if (!('member' in found)) return wrong(found.reason, found.field)
  // Who leaves a list need not consent to it.
  const consent = verb === 'add' ? consentOfRow(row, consents) : undefined
  return {
    read: {
      ...{ index: row.index, segmentId, segmentName: row.text('segment_name'), verb },
      member: consent ? { ...found.member, consent } : found.member,
      identity: JSON.stringify(found.member),
    },
  }
}

const contactOf = (address: AddressColumns | undefined) => {
  const columns = contactColumns(address)
  return (row: BatchRow): Member => {
    const read = identifiersOf(row, columns)
    if ('reason' in read) return read
    if (read.identifiers.length > 0) return { member: { userData: { userIdentifiers: read.identifiers } } }
    const reason = 'The row has no e-mail address, phone number or address by which Google can find the person.'
    return { reason, field: 'email' }
  }
}

const deviceOf =
  (column: string) =>
  (row: BatchRow): Member => {
    const id = row.text(column)
    if (id === undefined) return { reason: `The row holds no ${column}, which this list is made of.`, field: column }
    if (/^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i.test(id)) return { member: { mobileData: { mobileIds: [id] } } }
    return { reason: 'The value is not an advertising ID of the form 8-4-4-4-12.', field: column }
  }
