import { type JsonObject, textIn } from '../platform-api/json.ts'
import { type BatchRow, isSha256 } from '../platform-api/rows/batch-rows.ts'
import { filled, textsOf } from '../platform-api/rows/event-values.ts'
import { type Read, readObject, wrong } from '../platform-api/rows/events.ts'

/** What Meta takes as a digest only, by its key in `user_data`; the column of a raw or hashed value. */
const hashedColumns: Readonly<Record<string, string>> = {
  ...{ em: 'email', ph: 'phone', ge: 'gender', db: 'date_of_birth', ln: 'last_name', fn: 'first_name' },
  ...{ ct: 'city', st: 'state', zp: 'zip', country: 'country' },
}
const listKeys = new Set(['em', 'ph', 'external_id'])
/** What identifies a person as it is. */
const plainKeys = [
  ...['client_ip_address', 'client_user_agent', 'fbc', 'fbp', 'madid', 'anon_id', 'subscription_id', 'ctwa_clid'],
  ...['page_id', 'page_scoped_user_id', 'ig_account_id', 'ig_sid'],
]
const numberKeys = ['lead_id', 'fb_login_id']
/** These come in `user_data` only, or as they are or hashed. */
const otherKeys = ['external_id', 'partner_id', 'whatsapp_business_account_id']
const identifyingKeys = [...Object.keys(hashedColumns), ...plainKeys, ...numberKeys, ...otherKeys]

/** What Meta's own library for web servers adds to digests, to count who uses it. */
const librarySuffix = /\.[\w-]{2,8}$/

/**
 * The person: what `user_data` says, and over it what columns of their own say.
 * @param seconds when the event happened
 */
export function readPerson(row: BatchRow, seconds: number): Read<JsonObject> {
  const given = readObject(row, 'user_data')
  if ('wrong' in given) return given
  const user: Record<string, unknown> = { ...given.read }
  for (const [key, column] of Object.entries(hashedColumns)) {
    const own = row.text(column)
    const values = own === undefined ? [user[key] ?? []].flat() : [own]
    const isList = own === undefined ? Array.isArray(user[key]) : listKeys.has(key)
    delete user[key]
    const digests = values.filter((value) => value !== '').map(digestIn)
    if (digests.includes(undefined)) {
      const field = own === undefined ? 'user_data' : column
      return wrong(`The person's ${key} is not a SHA-256 digest of 64 hexadecimal characters.`, field)
    }
    if (digests.length > 0) user[key] = isList ? digests : digests[0]
  }
  const externalId = row.text('external_id')
  if (externalId !== undefined) user.external_id = [externalId]
  Object.assign(user, textsOf(row, Object.fromEntries(plainKeys.map((key) => [key, key]))))
  for (const key of numberKeys) {
    const text = row.text(key)
    if (text !== undefined) user[key] = /^\d{1,15}$/.test(text) ? Number(text) : text
  }
  // Meta joins the click with the time of the click, of which the event's is the nearest that is known.
  const click = row.text('click_id') ?? clickIn(row.text('event_source_url'))
  if (click !== undefined) user.fbc ??= `fb.1.${seconds * 1000}.${click}`
  if (identifyingKeys.some((key) => [user[key] ?? []].flat().some(Boolean))) return { read: filled(user) }
  const field = row.text('user_data') === undefined ? 'email' : 'user_data'
  return wrong('The row has nothing by which Meta can find the person.', field)
}

function digestIn(value: unknown): string | undefined {
  const digest = typeof value === 'string' ? value.trim().replace(librarySuffix, '').toLowerCase() : ''
  return isSha256(digest) ? digest : undefined
}

/** The click that the address of a page names. */
const clickIn = (url: string | undefined): string | undefined =>
  textIn(URL.parse(url ?? '')?.searchParams.get('fbclid') ?? undefined)
