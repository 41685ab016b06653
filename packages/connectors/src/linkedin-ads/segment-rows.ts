import type { Batch, Rejection } from '@penstock/connector'
import { isObject, parseJson, textIn } from '../platform-api/json.ts'
import type { BatchRow } from '../platform-api/rows/batch-rows.ts'
import { type Read, readRows, wrong } from '../platform-api/rows/events.ts'

export type UserId = { readonly idType: string; readonly idValue: string }

/** A person as LinkedIn takes it; what is not an identifier helps to find the person, and is not hashed. */
export type SegmentUser = { readonly userIds: readonly UserId[] } & Readonly<
  Partial<Record<'firstName' | 'lastName' | 'title' | 'company' | 'country', string>>
>

export type LinkedInSegmentRow = {
  readonly index: number
  readonly segmentId: string | undefined
  readonly segmentName: string | undefined
  readonly verb: 'add' | 'remove'
  readonly user: SegmentUser
}

/** Reads the rows of a batch, and says of those that cannot be sent why. */
export function readSegmentRows(batch: Batch): { rows: LinkedInSegmentRow[]; rejected: Rejection[] } {
  return readRows(batch, readRow)
}

function readRow(row: BatchRow): Read<LinkedInSegmentRow> {
  const verb = row.text('action')?.toLowerCase()
  if (verb !== 'add' && verb !== 'remove') return wrong('The action must be add or remove.', 'action')
  const segmentId = row.text('segment_id')
  const segmentName = row.text('segment_name')
  if (segmentId !== undefined && !/^\d+$/.test(segmentId)) {
    return wrong('A segment of LinkedIn has a number as its ID.', 'segment_id')
  }
  if (segmentId === undefined && segmentName === undefined) {
    return wrong('The row has neither the ID nor the name of a segment.', 'segment_id')
  }
  const userIds = userIdsOf(row)
  if ('wrong' in userIds) return userIds
  return { read: { index: row.index, segmentId, segmentName, verb, user: { userIds: userIds.read, ...aboutOf(row) } } }
}

function aboutOf(row: BatchRow): Omit<SegmentUser, 'userIds'> {
  const about = {
    firstName: row.text('first_name'),
    lastName: row.text('last_name'),
    title: row.text('title'),
    company: row.text('company'),
    country: row.text('country')?.toUpperCase(),
  }
  return Object.fromEntries(Object.entries(about).filter(([, text]) => text !== undefined))
}

function userIdsOf(row: BatchRow): Read<UserId[]> {
  const found = new Map<string, UserId>()
  for (const column of ['email', 'google_aid', 'userIds'] as const) {
    const text = row.text(column)
    if (text === undefined) continue
    for (const value of column === 'userIds' ? listed(text) : [text]) {
      const userId = userIdOf(value, column)
      if (!userId) return wrong(reasons[column], column)
      found.set(`${userId.idType}:${userId.idValue}`, userId)
    }
  }
  if (found.size === 0) return wrong('The row has no identifier that LinkedIn can use to find the person.', 'email')
  return { read: [...found.values()] }
}

const reasons = {
  email: 'The value is not a SHA-256 or SHA-512 digest in hexadecimal characters.',
  google_aid: 'The value is not a Google advertising ID.',
  userIds: 'The value must be a list of SHA-256 or SHA-512 digests of e-mail addresses and of Google advertising IDs.',
} as const

/** What a list holds: one written as JSON, or with commas or blanks between its values. */
function listed(text: string): readonly unknown[] {
  const json = text.startsWith('[') || text.startsWith('{') ? parseJson(text) : undefined
  return json === undefined ? text.split(/[\s,;|]+/).filter(Boolean) : [json].flat()
}

const hexadecimal = /^[0-9a-f]+$/
const advertisingId = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i

/** An identifier as LinkedIn takes it; which kind it is shows in its form. */
function userIdOf(value: unknown, column: keyof typeof reasons): UserId | undefined {
  const text = isObject(value) ? textIn(value.idValue) : textIn(value)
  const userId = text === undefined ? undefined : byForm(text.trim())
  if (!userId || (column === 'email' && userId.idType === 'GOOGLE_AID')) return undefined
  if (column === 'google_aid' && userId.idType !== 'GOOGLE_AID') return undefined
  return isObject(value) && value.idType !== userId.idType ? undefined : userId
}

function byForm(text: string): UserId | undefined {
  if (advertisingId.test(text)) return { idType: 'GOOGLE_AID', idValue: text }
  const digest = text.toLowerCase()
  if (!hexadecimal.test(digest)) return undefined
  if (digest.length === 64) return { idType: 'SHA256_EMAIL', idValue: digest }
  return digest.length === 128 ? { idType: 'SHA512_EMAIL', idValue: digest } : undefined
}
