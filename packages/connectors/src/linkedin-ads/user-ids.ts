import { isObject, parseJson, textIn } from '../platform-api/json.ts'
import type { BatchRow } from '../platform-api/rows/batch-rows.ts'
import { type Read, wrong } from '../platform-api/rows/events.ts'

export type UserId = { readonly idType: string; readonly idValue: string }

/** The identifiers of a row in the form that LinkedIn accepts, without duplicates. */
export function userIdsOf(row: BatchRow): Read<UserId[]> {
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
  return { read: [...found.values()] }
}

const reasons = {
  email: 'The value is not a SHA-256 or SHA-512 digest in hexadecimal characters.',
  google_aid: 'The value is not a Google advertising ID.',
  userIds: 'The value must be a list of SHA-256 or SHA-512 digests of e-mail addresses and of Google advertising IDs.',
} as const

/** The entries of a list, which is JSON, or has commas or blanks between its values. */
function listed(text: string): readonly unknown[] {
  const json = text.startsWith('[') || text.startsWith('{') ? parseJson(text) : undefined
  return json === undefined ? text.split(/[\s,;|]+/).filter(Boolean) : [json].flat()
}

const hexadecimal = /^[0-9a-f]+$/
const advertisingId = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i

/** An identifier in the form that LinkedIn accepts. Its form shows its kind. */
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
