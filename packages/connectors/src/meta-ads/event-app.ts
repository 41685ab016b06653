import { type JsonObject, parseJson } from '../platform-api/json.ts'
import type { BatchRow } from '../platform-api/rows/batch-rows.ts'
import { filled, readAll, readBoolean } from '../platform-api/rows/event-values.ts'
import { type Read, readObject, wrong } from '../platform-api/rows/events.ts'

const platforms: Readonly<Record<string, string>> = {
  ios: 'i2',
  ipados: 'i2',
  iphone: 'i2',
  ipad: 'i2',
  i2: 'i2',
  android: 'a2',
  a2: 'a2',
}
/** Columns by their index in the sixteen texts that describe a device. Meta requires the first and the fifth. */
const columnsByPlace: Readonly<Record<number, string>> = {
  1: 'app_package_name',
  2: 'app_version',
  3: 'app_version',
  4: 'os_version',
  5: 'device_model',
  6: 'locale',
}
const places = 16

/**
 * The app of an event and its device: the values of `app_data`, overridden by separate columns.
 * @param platform the platform of the app, for rows without one
 */
export function readApp(row: BatchRow, platform: string | undefined): Read<JsonObject> {
  const given = readObject(row, 'app_data')
  if ('wrong' in given) return given
  const read = readAll({
    advertiser: readTracking(row, 'advertiser_tracking_enabled'),
    application: readTracking(row, 'application_tracking_enabled'),
    extinfo: readExtinfo(row, given.read.extinfo, platform),
  })
  if ('wrong' in read) return read
  const { advertiser, application, extinfo } = read.read
  return {
    read: filled({
      ...given.read,
      // A missing consent is not a consent.
      advertiser_tracking_enabled: advertiser ?? given.read.advertiser_tracking_enabled ?? 0,
      application_tracking_enabled: application ?? given.read.application_tracking_enabled ?? 0,
      extinfo,
    }),
  }
}

/** Yes or no, or Apple's words for it. */
function readTracking(row: BatchRow, column: string): Read<number | undefined> {
  const text = row.text(column)?.toLowerCase()
  if (text === 'authorized') return { read: 1 }
  if (text === 'denied' || text === 'restricted' || text === 'not_determined') return { read: 0 }
  const flag = readBoolean(row, column)
  if ('wrong' in flag) return flag
  return { read: flag.read === undefined ? undefined : Number(flag.read) }
}

function readExtinfo(row: BatchRow, inData: unknown, platform: string | undefined): Read<readonly unknown[]> {
  const text = row.text('extinfo')
  const given = text === undefined ? inData : parseJson(text)
  if (given !== undefined && given !== null) {
    const isValid =
      Array.isArray(given) &&
      given.length === places &&
      given.every((each) => typeof each === 'string' || typeof each === 'number') &&
      (given[0] === 'a2' || given[0] === 'i2')
    if (isValid) return { read: given }
    const field = text === undefined ? 'app_data' : 'extinfo'
    return wrong('The value extinfo must be a list of 16 texts, the first of which is a2 or i2.', field)
  }
  const version = platforms[(row.text('app_platform') ?? platform ?? '').toLowerCase()]
  if (version === undefined) {
    return wrong('An event of an app needs the operating system on which it happened: ios or android.', 'app_platform')
  }
  const extinfo = new Array<string>(places).fill('')
  extinfo[0] = version
  for (const [place, column] of Object.entries(columnsByPlace)) extinfo[Number(place)] = row.text(column) ?? ''
  return { read: extinfo }
}
