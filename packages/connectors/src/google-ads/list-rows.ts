import type { Batch, Rejection, Values } from '@penstock/connector'
import { type BatchRow, isSha256, rowsOf } from '../platform-api/batch-rows.ts'
import { type Consent, consentOfRow } from './consent.ts'

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

type Wrong = { readonly reason: string; readonly field?: string }
type Member = { readonly member: object } | Wrong

/** Reads the rows of a batch. What would make Google refuse the whole request is rejected here, row by row. */
export function readListRows(batch: Batch, settings: Values): { rows: ListRow[]; rejected: Rejection[] } {
  const memberOf = settings.audienceType === 'Mobile Advertising Id' ? deviceOf(settings.keySpace) : contactOf
  const rows: ListRow[] = []
  const rejected: Rejection[] = []
  for (const row of rowsOf(batch)) {
    const verb = row.text('action')?.toLowerCase()
    const segmentId = row.text('segment_id')
    const { index } = row
    if (verb !== 'add' && verb !== 'remove') {
      rejected.push({ index, field: 'action', reason: 'The action must be add or remove.' })
      continue
    }
    if (segmentId !== undefined && !/^\d+$/.test(segmentId)) {
      rejected.push({ index, field: 'segment_id', reason: 'A list of Google has a number as its ID.' })
      continue
    }
    const read = memberOf(row)
    if (!('member' in read)) {
      rejected.push({ index, ...read })
      continue
    }
    // Who leaves a list need not consent to it.
    const consent = verb === 'add' ? consentOfRow(row, settings) : undefined
    rows.push({
      ...{ index, segmentId, segmentName: row.text('segment_name'), verb },
      member: consent ? { ...read.member, consent } : read.member,
      identity: JSON.stringify(read.member),
    })
  }
  return { rows, rejected }
}

const hashedColumns = ['email', 'email_sha256', 'phone', 'phone_sha256', 'first_name', 'last_name'] as const
const addressColumns = ['first_name', 'last_name', 'country', 'postal_code'] as const

function contactOf(row: BatchRow): Member {
  const unhashed = hashedColumns.find((column) => !isSha256(row.text(column) ?? '0'.repeat(64)))
  if (unhashed) return { reason: 'The value is no SHA-256 digest of 64 hexadecimal characters.', field: unhashed }
  const address = addressOf(row)
  if ('reason' in address) return address
  const userIdentifiers = [
    ...distinct(row, ['email', 'email_sha256']).map((emailAddress) => ({ emailAddress })),
    ...distinct(row, ['phone', 'phone_sha256']).map((phoneNumber) => ({ phoneNumber })),
    ...address.identifiers,
  ]
  if (userIdentifiers.length > 0) return { member: { userData: { userIdentifiers } } }
  return { reason: 'The row holds no e-mail address, phone number or address by which Google could find the person.' }
}

const distinct = (row: BatchRow, columns: readonly string[]): string[] => [
  ...new Set(columns.flatMap((column) => row.text(column) ?? [])),
]

/** Google matches an address as a whole; its country and postal code travel as they are. */
function addressOf(row: BatchRow): { identifiers: unknown[] } | Wrong {
  const [givenName, familyName, country, postalCode] = addressColumns.map((column) => row.text(column))
  const given = [givenName, familyName, country, postalCode].filter((value) => value !== undefined).length
  if (given === 0) return { identifiers: [] }
  if (given < addressColumns.length) {
    const missing = addressColumns.find((column) => row.text(column) === undefined) ?? 'country'
    return { reason: 'An address needs first name, last name, country and postal code.', field: missing }
  }
  if (!/^[A-Za-z]{2}$/.test(country ?? '')) return { reason: 'A country is a code of two letters.', field: 'country' }
  return { identifiers: [{ address: { givenName, familyName, regionCode: country?.toUpperCase(), postalCode } }] }
}

/** iOS devices stand in one column and Android devices in another; a list holds one kind. */
function deviceOf(keySpace: unknown): (row: BatchRow) => Member {
  const column = keySpace === 'ANDROID' ? 'gaid' : 'idfa'
  return (row) => {
    const id = row.text(column)
    if (id === undefined) return { reason: `The row holds no ${column}, which this list is made of.`, field: column }
    if (/^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i.test(id)) return { member: { mobileData: { mobileIds: [id] } } }
    return { reason: 'The value is no advertising ID of the form 8-4-4-4-12.', field: column }
  }
}
