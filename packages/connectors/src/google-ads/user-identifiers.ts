import type { JsonObject } from '../platform-api/json.ts'
import { type BatchRow, isSha256 } from '../platform-api/rows/batch-rows.ts'
import type { AddressColumns } from './audience-plans.ts'

/** The columns by which Google finds a person. */
export type ContactColumns = { readonly hashed: readonly string[]; readonly address: AddressColumns | undefined }

export const contactColumns = (address: AddressColumns | undefined): ContactColumns => ({
  hashed: [...emails, ...phones, ...(address ? [...address.givenName, ...address.familyName] : [])],
  address,
})

const emails = ['email', 'email_sha256']
const phones = ['phone', 'phone_sha256']

/**
 * The `userIdentifiers` of a row, none where it has none. Google matches an address as a whole, so that an incomplete
 * one is left out where something else identifies the person, and is wrong where nothing else does.
 */
export function identifiersOf(
  row: BatchRow,
  { hashed, address }: ContactColumns,
): { identifiers: JsonObject[] } | { reason: string; field: string } {
  const unhashed = hashed.find((column) => !isSha256(row.text(column) ?? '0'.repeat(64)))
  if (unhashed) return { reason: 'The value is not a SHA-256 digest of 64 hexadecimal characters.', field: unhashed }
  const identifiers: JsonObject[] = [
    ...distinct(row, emails).map((emailAddress) => ({ emailAddress })),
    ...distinct(row, phones).map((phoneNumber) => ({ phoneNumber })),
  ]
  const read = address ? addressOf(row, address) : undefined
  if (!read) return { identifiers }
  if ('address' in read) return { identifiers: [...identifiers, read] }
  return identifiers.length > 0 ? { identifiers } : read
}

const distinct = (row: BatchRow, columns: readonly string[]): string[] => [
  ...new Set(columns.flatMap((column) => row.text(column) ?? [])),
]

/** The country and the postal code of an address travel as they are. */
function addressOf(
  row: BatchRow,
  columns: AddressColumns,
): { address: JsonObject } | { reason: string; field: string } | undefined {
  const first = (part: keyof AddressColumns) => columns[part].map((column) => row.text(column)).find(Boolean)
  const parts = ['givenName', 'familyName', 'regionCode', 'postalCode'] as const
  const missing = parts.find((part) => first(part) === undefined)
  if (missing !== undefined) {
    if (parts.every((part) => first(part) === undefined)) return undefined
    const reason = 'An address needs first name, last name, country and postal code.'
    return { reason, field: columns[missing][0] ?? missing }
  }
  const regionCode = first('regionCode')?.toUpperCase() ?? ''
  if (!/^[A-Z]{2}$/.test(regionCode)) {
    return { reason: 'A country is a code of two letters.', field: columns.regionCode[0] ?? 'country' }
  }
  return {
    address: {
      givenName: first('givenName'),
      familyName: first('familyName'),
      regionCode,
      postalCode: first('postalCode'),
    },
  }
}
