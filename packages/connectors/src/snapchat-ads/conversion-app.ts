import { type JsonObject, textIn } from '../platform-api/json.ts'
import type { BatchRow } from '../platform-api/rows/batch-rows.ts'
import { filled, readAll, readBoolean } from '../platform-api/rows/event-values.ts'
import { type Read, readObject } from '../platform-api/rows/events.ts'

/** @property appId of the App Store or of Google Play, for events whose rows name none */
export type AppSettings = { readonly appId: string | undefined }

/** The app of an event and its device: what `app_data` says, and over it what columns of their own say. */
export function readApp(row: BatchRow, settings: AppSettings): Read<JsonObject> {
  const given = readObject(row, 'app_data')
  if ('wrong' in given) return given
  const read = readAll({
    advertiser: readBoolean(row, 'advertiser_tracking_enabled'),
    application: readBoolean(row, 'application_tracking_enabled'),
  })
  if ('wrong' in read) return read
  const { advertiser, application } = read.read
  const appId = row.text('app_id') ?? textIn(given.read.app_id) ?? settings.appId
  return {
    read: filled({
      ...given.read,
      app_id: appId,
      // Nothing said is no consent.
      advertiser_tracking_enabled: flagOf(advertiser) ?? given.read.advertiser_tracking_enabled ?? 0,
      application_tracking_enabled: flagOf(application) ?? given.read.application_tracking_enabled,
      extinfo: given.read.extinfo ?? extinfoOf(row, appId),
    }),
  }
}

const flagOf = (value: boolean | undefined): number | undefined => (value === undefined ? undefined : Number(value))

/** Sixteen texts by their place, the first of which says whether it is an app of iOS, whose IDs are numbers, or of Android. */
function extinfoOf(row: BatchRow, appId: string | undefined): string[] {
  const extinfo = new Array<string>(16).fill('')
  extinfo[0] = /^\d+$/.test(appId ?? '') ? 'i2' : 'a2'
  extinfo[4] = row.text('os_version') ?? ''
  extinfo[5] = row.text('device_model') ?? ''
  return extinfo
}
