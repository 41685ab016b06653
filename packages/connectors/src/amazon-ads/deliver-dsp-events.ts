import { ConnectorError, type DestinationContext, type DestinationWriter } from '@penstock/connector'
import { textIn } from '../platform-api/json.ts'
import { type RowEvent, readEvents } from '../platform-api/rows/events.ts'
import { sendInHalves, type Taken } from '../platform-api/rows/halving.ts'
import { Refusals } from '../platform-api/rows/refusals.ts'
import { clientIdOf, openAmazonAds } from './amazon-api.ts'
import { type DspEvent, type DspEventDefaults, eventOf } from './dsp-event-rows.ts'
import { takenOf } from './multi-status.ts'
import { regionOf } from './region.ts'
import { countryOf } from './settings.ts'

/** Sends events, those of one advertiser in one request. Amazon keeps one of those that have the same ID. */
export async function open(context: DestinationContext): Promise<DestinationWriter> {
  const client = openAmazonAds(context)
  const defaults = defaultsOf(context)
  const refusals = new Refusals('Amazon')

  async function send(advertiserId: string, some: readonly RowEvent<DspEvent>[]): Promise<Taken<RowEvent<DspEvent>>> {
    const answer = await client.askObject({
      path: '/adsApi/v1/create/events',
      method: 'POST',
      headers: { 'amazon-ads-clientid': clientIdOf(context), 'amazon-ads-accountid': advertiserId },
      body: { events: some.map(({ event }) => event.body) },
      expects: ({ status }) => status === 400,
    })
    if (answer.status === 400) return { bytes: answer.bytesSent, refused: notTaken }
    return takenOf(answer, some)
  }

  return {
    async deliver(batch) {
      const { events, rejected } = readEvents(batch, (row) => eventOf(batch, row, defaults))
      const advertisers = Map.groupBy(events, ({ event }) => event.advertiserId)
      let bytes = 0
      for (const [advertiserId, ofAdvertiser] of advertisers) {
        const sent = await sendInHalves(ofAdvertiser, refusals, (some) => send(advertiserId, some))
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

const notTaken =
  'Amazon did not accept the event (status 400); check the advertiser, the type, the time, the person, the country and the value.'

/** What the settings of a connection say of all events. Throws `invalid_setting` where Amazon cannot use one. */
export function defaultsOf({ settings }: Pick<DestinationContext, 'settings'>): DspEventDefaults {
  const dataSetName = textIn(settings.dataSetName)?.trim()
  if (dataSetName !== undefined && !/^[A-Za-z][A-Za-z0-9_-]{4,99}$/.test(dataSetName)) {
    const message =
      'The name of the dataset must begin with a letter and have 5 to 100 letters, digits, hyphens and underscores.'
    throw new ConnectorError('invalid_setting', message)
  }
  return {
    country: countryOf({ settings }),
    dataSetName,
    consentAdStorage: textIn(settings.consentAdStorage),
    consentUserData: textIn(settings.consentUserData),
    needsConsent: regionOf({ settings }) === 'EU',
  }
}
