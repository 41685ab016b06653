import type { LookedUp } from '../kit/lookup-facts.ts'
import type { BatchRow } from '../platform-api/rows/batch-rows.ts'
import { type Read, wrong } from '../platform-api/rows/events.ts'

/** The columns that identify a person. UID2 normalises and hashes plain values itself. */
export const identifiers = ['email', 'email_hash', 'phone', 'phone_hash'] as const
export type Identifier = (typeof identifiers)[number]
export type IdentityItem = { readonly by: Identifier; readonly value: string }

const base64Digest = /^[A-Za-z0-9+/]{43}=$/

/** The first identifier that a row has, in the order of the columns. */
export function itemOf(row: BatchRow): Read<IdentityItem> {
  const by = identifiers.find((one) => row.text(one) !== undefined)
  const value = by && row.text(by)
  if (!by || value === undefined) return wrong('The row has no e-mail address and no phone number.', 'email')
  if (by.endsWith('_hash') && !base64Digest.test(value)) {
    return wrong('The value is not a SHA-256 digest in Base64.', by)
  }
  return { read: { by, value } }
}

/** The result of one value, as the map answers it. @param entry `{u, p, r}` or `{e}` */
export function resultOf(short: string, entry: unknown): LookedUp | undefined {
  const { u, p, r, e } = (typeof entry === 'object' && entry !== null ? entry : {}) as Record<string, unknown>
  if (typeof u === 'string') {
    const previous = typeof p === 'string' ? { previous: p } : {}
    const refresh = typeof r === 'number' ? { refreshTime: r } : {}
    return { answer: { [short.toLowerCase()]: u, ...previous, ...refresh } }
  }
  if (e === 'optout') return { wrong: `The person opted out of ${short}. Remove them everywhere.` }
  return typeof e === 'string' ? { wrong: `${short} does not accept the identifier.` } : undefined
}
