import type { Batch } from '@penstock/connector'
import { type JsonObject, parseJson } from '../platform-api/json.ts'
import type { BatchRow } from '../platform-api/rows/batch-rows.ts'
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
import { readApp } from './event-app.ts'
import { readPerson } from './event-person.ts'
import { actionSources } from './event-sources.ts'

/** What rows that name none are of. */
export type EventDefaults = { readonly actionSource?: string; readonly platform?: string | undefined }

const otherNames: Readonly<Record<string, string>> = { call_center: 'phone_call' }
const sourceIn = (text: string | undefined): string | undefined =>
  actionSources.find((source) => source === text) ?? otherNames[text ?? '']

/** Meta refuses a whole request for one event that is older. */
const daysMax = (actionSource: string) => (actionSource === 'physical_store' ? 62 : 7)

/** Makes an event of a row, or says why Meta would refuse it, and the whole batch with it. */
export function eventOf(batch: Batch, row: BatchRow, defaults: EventDefaults = {}): Read<JsonObject> {
  const name = row.text('event_name')
  if (name === undefined) return wrong('The name of the event is missing.', 'event_name')
  const source = sourceIn(row.text('action_source')?.toLowerCase() ?? defaults.actionSource)
  if (source === undefined) {
    return wrong(`The kind of event must be one of ${actionSources.join(', ')}.`, 'action_source')
  }
  const time = readSeconds(row, 'event_time', daysMax(source))
  if ('wrong' in time) return time
  const describesApp = source === 'app' || row.text('app_data') !== undefined
  const read = readAll({
    user: readPerson(row, time.read),
    custom: readCustom(row, name),
    app: describesApp ? readApp(row, defaults.platform) : { read: {} },
    optOut: readBoolean(row, 'opt_out'),
    privacy: readPrivacy(row),
  })
  if ('wrong' in read) return read
  const { user, custom, app, optOut, privacy } = read.read
  return {
    read: filled({
      event_name: name,
      event_time: time.read,
      event_id: eventIdOf(batch, row),
      action_source: source,
      ...textsOf(row, {
        event_source_url: 'event_source_url',
        referrer_url: 'referrer_url',
        messaging_channel: 'messaging_channel',
      }),
      opt_out: optOut,
      user_data: user,
      custom_data: custom,
      app_data: app,
      ...privacy,
    }),
  }
}

/** What happened: what `custom_data` says, and over it what columns of their own say. */
function readCustom(row: BatchRow, name: string): Read<JsonObject> {
  const given = readObject(row, 'custom_data')
  if ('wrong' in given) return given
  const read = readAll({
    value: readNumber(row, 'value'),
    currency: readCurrency(row, 'currency'),
    content_ids: readTexts(row, 'content_ids'),
    contents: readObjects(row, 'contents'),
    num_items: readCount(row, 'num_items'),
    predicted_ltv: readNumber(row, 'predicted_ltv'),
    net_revenue: readNumber(row, 'net_revenue'),
  })
  if ('wrong' in read) return read
  const texts = textsOf(row, {
    order_id: 'order_id',
    content_name: 'content_name',
    content_type: 'content_type',
    content_category: 'content_category',
    search_string: 'search_string',
    delivery_category: 'delivery_category',
  })
  const custom = filled({ ...given.read, ...filled(read.read), ...texts })
  if (name !== 'Purchase' || isPriced(custom)) return { read: custom }
  const reason = 'A Purchase needs a value as a number and a currency of three letters.'
  return wrong(reason, Object.keys(given.read).length > 0 ? 'custom_data' : 'value')
}

const isPriced = ({ value, currency }: JsonObject): boolean =>
  typeof value === 'number' && Number.isFinite(value) && typeof currency === 'string' && /^[A-Za-z]{3}$/.test(currency)

/** Limited data use, where the row asks for it; 0 leaves it to Meta to find out where the person is. */
function readPrivacy(row: BatchRow): Read<JsonObject> {
  const read = readAll({
    limited: readLimited(row),
    country: readCount(row, 'data_processing_options_country'),
    state: readCount(row, 'data_processing_options_state'),
  })
  if ('wrong' in read) return read
  const { limited, country = 0, state = 0 } = read.read
  if (!limited) return { read: {} }
  return {
    read: {
      data_processing_options: ['LDU'],
      data_processing_options_country: country,
      data_processing_options_state: state,
    },
  }
}

/** Yes or no, or Meta's list of options, of which there is one. */
function readLimited(row: BatchRow): Read<boolean | undefined> {
  const column = 'data_processing_options'
  const text = row.text(column) ?? ''
  if (text.toUpperCase() === 'LDU') return { read: true }
  if (!text.startsWith('[')) return readBoolean(row, column)
  const options = parseJson(text)
  if (Array.isArray(options) && options.every((option) => option === 'LDU')) return { read: options.length > 0 }
  return wrong('The value must be LDU, a JSON list of it, true or false.', column)
}
