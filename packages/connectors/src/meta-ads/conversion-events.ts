import type { Batch } from '@penstock/connector'
import { type BatchRow, isSha256 } from '../platform-api/batch-rows.ts'
import { eventIdOf, type Read, readObject, readTimestamp, type Wrong, wrong } from '../platform-api/events.ts'
import type { JsonObject } from '../platform-api/json.ts'

export type MetaEvent = {
  readonly event_name: string
  readonly event_time: number
  readonly event_id: string
  readonly action_source: string
  readonly user_data: JsonObject
  readonly custom_data?: JsonObject
}

/** Our words for where an event happened, and Meta's. */
const actionSources: Readonly<Record<string, string>> = {
  physical_store: 'physical_store',
  call_center: 'phone_call',
  system_generated: 'system_generated',
}

/** Meta refuses a whole request for one event that is older. */
const daysMax = (actionSource: string) => (actionSource === 'physical_store' ? 62 : 7)

/** What Meta takes as a digest only, and what identifies a person as it is. */
const hashedKeys = ['em', 'ph', 'ge', 'db', 'ln', 'fn', 'ct', 'st', 'zp', 'country']
const plainKeys = [
  ...['external_id', 'client_ip_address', 'client_user_agent', 'fbc', 'fbp', 'subscription_id', 'lead_id'],
  ...['fb_login_id', 'madid', 'anon_id', 'ctwa_clid', 'page_id', 'partner_id'],
]

/** Makes an event of a row, or says why Meta would refuse it, and the whole batch with it. */
export function eventOf(batch: Batch, row: BatchRow): Read<MetaEvent> {
  const name = row.text('event_name')
  if (name === undefined) return wrong('The name of the event is missing.', 'event_name')
  const source = actionSources[row.text('action_source') ?? '']
  if (source === undefined) {
    return wrong('The kind of place must be physical_store, call_center or system_generated.', 'action_source')
  }
  const time = readTimestamp(row, 'event_time', daysMax(source))
  if ('wrong' in time) return time
  const user = readObject(row, 'user_data')
  if ('wrong' in user) return user
  const problemOfUser = problemOf(user.read)
  if (problemOfUser) return problemOfUser
  const custom = readObject(row, 'custom_data')
  if ('wrong' in custom) return custom
  if (name === 'Purchase' && !isPriced(custom.read)) {
    return wrong('A Purchase needs a value as a number and a currency of three letters.', 'custom_data')
  }
  return {
    read: {
      event_name: name,
      event_time: time.read,
      event_id: eventIdOf(batch, row),
      action_source: source,
      user_data: user.read,
      ...(Object.keys(custom.read).length > 0 ? { custom_data: custom.read } : {}),
    },
  }
}

function problemOf(user: JsonObject): Wrong | undefined {
  const given = [...hashedKeys, ...plainKeys].filter((key) => [user[key] ?? []].flat().some(Boolean))
  if (given.length === 0) return wrong('The object holds nothing by which Meta could find the person.', 'user_data')
  const plain = hashedKeys.find((key) =>
    [user[key] ?? []].flat().some((value) => typeof value !== 'string' || !isSha256(value)),
  )
  if (plain === undefined) return undefined
  return wrong(`The object's ${plain} is no SHA-256 digest of 64 lower-case hexadecimal characters.`, 'user_data')
}

const isPriced = ({ value, currency }: JsonObject): boolean =>
  typeof value === 'number' && Number.isFinite(value) && typeof currency === 'string' && /^[A-Za-z]{3}$/.test(currency)
