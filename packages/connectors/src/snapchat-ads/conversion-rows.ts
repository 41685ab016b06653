import type { Batch } from '@penstock/connector'
import type { JsonObject } from '../platform-api/json.ts'
import { type BatchRow, isSha256 } from '../platform-api/rows/batch-rows.ts'
import {
  filled,
  readAll,
  readBoolean,
  readCount,
  readCurrency,
  readNumber,
  readObjects,
  readSeconds,
  readTexts,
  textsOf,
} from '../platform-api/rows/event-values.ts'
import { eventIdOf, type Read, readObject, wrong } from '../platform-api/rows/events.ts'
import { type AppSettings, readApp } from './conversion-app.ts'

/** What events belong to: those of apps to an app of Snapchat, all others to a pixel. */
export type Asset = 'pixel' | 'app'
export type SnapchatEvent = { readonly asset: Asset; readonly body: JsonObject }

/** Snapchat knows three kinds of place; what others call theirs counts as one of these. */
const actionSources: Readonly<Record<string, string>> = {
  ...{ web: 'WEB', website: 'WEB', mobile_app: 'MOBILE_APP', app: 'MOBILE_APP', offline: 'OFFLINE' },
  ...{ physical_store: 'OFFLINE', phone_call: 'OFFLINE', email: 'OFFLINE', chat: 'OFFLINE' },
  ...{ system_generated: 'OFFLINE', other: 'OFFLINE' },
}

/** Older events are not reported. */
const daysMax = 37

/** What Snapchat takes as a digest only, by its key in `user_data`; the column of a raw or hashed value. */
const hashedColumns: Readonly<Record<string, string>> = {
  ...{ em: 'email', ph: 'phone', fn: 'first_name', ln: 'last_name', ge: 'gender', ct: 'city', st: 'state' },
  ...{ zp: 'zip', country: 'country', external_id: 'external_id' },
}
const listKeys = new Set(['em', 'ph', 'external_id'])
const plainColumns: Readonly<Record<string, string>> = {
  ...{ madid: 'madid', client_ip_address: 'client_ip_address', client_user_agent: 'client_user_agent' },
  ...{ sc_click_id: 'sc_click_id', sc_cookie1: 'sc_cookie1', idfv: 'idfv' },
  ...{ lead_id: 'lead_id', subscription_id: 'subscription_id' },
}

/** Makes an event of a row, or says why Snapchat would not take it. */
export function eventOf(batch: Batch, row: BatchRow, settings: AppSettings): Read<SnapchatEvent> {
  const name = row.text('event_name')
  if (name === undefined) return wrong('The name of the event is missing.', 'event_name')
  const source = actionSources[row.text('action_source')?.toLowerCase() ?? '']
  if (source === undefined) return wrong('The kind of event must be WEB, MOBILE_APP or OFFLINE.', 'action_source')
  const read = readAll({
    time: readSeconds(row, 'event_time', daysMax),
    user: readUser(row),
    custom: readCustom(row),
    privacy: readPrivacy(row),
    app: source === 'MOBILE_APP' ? readApp(row, settings) : { read: {} },
  })
  if ('wrong' in read) return read
  const { time, user, custom, privacy, app } = read.read
  const body = filled({
    event_name: name,
    event_time: time,
    event_id: eventIdOf(batch, row),
    event_source_url: row.text('event_source_url'),
    action_source: source,
    user_data: user,
    custom_data: custom,
    app_data: app,
    ...privacy,
    integration: 'penstock',
  })
  return { read: { asset: source === 'MOBILE_APP' ? 'app' : 'pixel', body } }
}

/** The person: what `user_data` says, and over it what columns of their own say. */
function readUser(row: BatchRow): Read<JsonObject> {
  const given = readObject(row, 'user_data')
  if ('wrong' in given) return given
  const user: Record<string, unknown> = { ...given.read }
  for (const [key, column] of Object.entries(hashedColumns)) {
    const own = row.text(column)
    const values = own === undefined ? [user[key] ?? []].flat().filter((value) => value !== '') : [own]
    delete user[key]
    if (values.length === 0) continue
    const digests = values.map((value) => String(value).toLowerCase())
    if (!digests.every(isSha256)) {
      const field = own === undefined ? 'user_data' : column
      return wrong(`The person's ${key} is not a SHA-256 digest of 64 hexadecimal characters.`, field)
    }
    user[key] = listKeys.has(key) || digests.length > 1 ? digests : digests[0]
  }
  Object.assign(user, textsOf(row, plainColumns))
  if (typeof user.madid === 'string') user.madid = user.madid.toLowerCase()
  const has = (key: string) => user[key] !== undefined && user[key] !== ''
  if (has('em') || has('ph') || has('madid') || (has('client_ip_address') && has('client_user_agent'))) {
    return { read: user }
  }
  return wrong(
    'Snapchat finds a person by an e-mail address, a phone number, the advertising ID of a device, or an IP address and a user agent together.',
    'email',
  )
}

function readCustom(row: BatchRow): Read<JsonObject> {
  const given = readObject(row, 'custom_data')
  if ('wrong' in given) return given
  const read = readAll({
    value: readNumber(row, 'conversion_value'),
    currency: readCurrency(row, 'currency'),
    content_ids: readTexts(row, 'content_ids'),
    contents: readObjects(row, 'contents'),
    num_items: readCount(row, 'num_items'),
  })
  if ('wrong' in read) return read
  const texts = textsOf(row, {
    order_id: 'order_id',
    content_category: 'content_category',
    search_string: 'search_string',
    sign_up_method: 'sign_up_method',
  })
  const custom = filled({ ...given.read, ...filled(read.read), ...texts })
  // Snapchat refuses a purchase that lacks either.
  const isPurchase = row.text('event_name')?.toUpperCase() === 'PURCHASE'
  if (!isPurchase || (custom.value !== undefined && custom.currency !== undefined)) return { read: custom }
  return wrong('A purchase needs a value and a currency.', custom.value === undefined ? 'conversion_value' : 'currency')
}

/** Yes or no, or Snapchat's own word for it. */
const readLimited = (row: BatchRow): Read<boolean | undefined> =>
  /^\W*LDU\W*$/i.test(row.text('limited_data_use') ?? '') ? { read: true } : readBoolean(row, 'limited_data_use')

/** Limited data use, where the row asks for it. */
function readPrivacy(row: BatchRow): Read<JsonObject> {
  const read = readAll({
    limited: readLimited(row),
    country: readCount(row, 'data_processing_options_country'),
    state: readCount(row, 'data_processing_options_state'),
  })
  if ('wrong' in read) return read
  const { limited, country, state } = read.read
  if (!limited) return { read: {} }
  return {
    read: filled({
      data_processing_options: ['LDU'],
      data_processing_options_country: country,
      data_processing_options_state: state,
    }),
  }
}
