import type { DestinationContext, DestinationWriter } from '@penstock/connector'
import { textIn } from '../platform-api/json.ts'
import { readEvents } from '../platform-api/rows/events.ts'
import { sendInHalves } from '../platform-api/rows/halving.ts'
import { Refusals } from '../platform-api/rows/refusals.ts'
import { type Asset, eventOf } from './conversion-rows.ts'
import { openConversions } from './conversions-api.ts'

/** The setting that names what events belong to, and its label. */
export const settingOf: Readonly<Record<Asset, readonly [key: string, label: string]>> = {
  pixel: ['pixelId', 'Pixel ID'],
  app: ['snapAppId', 'Snap App ID'],
}

/** Sends events, those of the pixel and those of the app in a request each. Snapchat keeps one of those with the same name and ID. */
export async function open(context: DestinationContext): Promise<DestinationWriter> {
  const { settings } = context
  const api = openConversions(context)
  const refusals = new Refusals('Snapchat')
  const testCode = textIn(settings.testEventCode)
  const asTest = testCode === undefined ? {} : { test_event_code: testCode }
  return {
    async deliver(batch) {
      const { events, rejected } = readEvents(batch, (row) => eventOf(batch, row, { appId: textIn(settings.appId) }))
      let bytes = 0
      for (const asset of ['pixel', 'app'] as const) {
        const ofAsset = events.filter(({ event }) => event.asset === asset)
        const [key, label] = settingOf[asset]
        const assetId = textIn(settings[key])?.trim()
        if (!assetId) {
          const reason = `Events of this kind of place need the setting “${label}” of the connection.`
          rejected.push(...ofAsset.map(({ index }) => ({ index, reason, field: 'action_source' })))
          continue
        }
        const sent = await sendInHalves(ofAsset, refusals, (some) =>
          api.send(
            assetId,
            some.map(({ event }) => ({ ...event.body, ...asTest })),
          ),
        )
        bytes += sent.bytes
        rejected.push(...sent.rejected)
      }
      return { bytes, rejected }
    },
    flush: async () => undefined,
    finish: async () => {},
    abort: async () => {},
    close: async () => {},
  }
}
