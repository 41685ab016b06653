import { createHash } from 'node:crypto'
import type { RowMember } from '../platform-api/audiences/segment-rows.ts'
import { type BatchRow, isSha256 } from '../platform-api/rows/batch-rows.ts'
import { type Read, wrong } from '../platform-api/rows/events.ts'

/** A person as X takes it: lists of identifiers, and between which times it belongs to the audience. */
export type XMember = {
  readonly effective_at?: string
  readonly expires_at?: string
  readonly users: readonly [Readonly<Record<string, readonly [string]>>]
}

const digests = ['email', 'phone_number', 'device_id', 'twitter_id'] as const

/** Who a row means. */
export function membersOf(row: BatchRow): Read<RowMember<XMember>[]> {
  const user: Record<string, [string]> = {}
  for (const column of digests) {
    const digest = row.text(column)?.toLowerCase()
    if (digest === undefined) continue
    if (!isSha256(digest)) return wrong('The value is not a SHA-256 digest of 64 hexadecimal characters.', column)
    user[column] = [digest]
  }
  const handle = row.text('handle')
  if (handle !== undefined) user.handle = [digestOfHandle(handle)]
  const partnerId = row.text('partner_user_id')
  if (partnerId !== undefined) user.partner_user_id = [partnerId]
  const identity = JSON.stringify(user)
  const times: Record<string, string> = {}
  for (const column of ['effective_at', 'expires_at']) {
    const text = row.text(column)
    if (text === undefined) continue
    const time = timeOf(text)
    if (time === undefined) return wrong('The time must be written as 2026-01-31T12:00:00Z with its zone.', column)
    times[column] = time
  }
  return { read: identity === '{}' ? [] : [{ identity, member: { ...times, users: [user] } }] }
}

/** The digest of a handle in lower case and without its @; a digest stays what it is. */
function digestOfHandle(handle: string): string {
  const plain = handle.toLowerCase().replace(/^@/, '')
  return isSha256(plain) ? plain : createHash('sha256').update(plain).digest('hex')
}

function timeOf(text: string): string | undefined {
  if (!/^\d{4}-\d{2}-\d{2}[T ]\d{2}:\d{2}(:\d{2}(\.\d+)?)?(Z|[+-]\d{2}:?\d{2})$/i.test(text)) return undefined
  const time = new Date(text.replace(' ', 'T'))
  return Number.isNaN(time.getTime()) ? undefined : time.toISOString().replace(/\.\d{3}Z$/, 'Z')
}
