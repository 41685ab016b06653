import {
  type ConnectorContext,
  ConnectorError,
  type DestinationContext,
  type DestinationWriter,
} from '@penstock/connector'
import { textIn } from '../platform-api/json.ts'
import { type RowEvent, readEvents } from '../platform-api/rows/events.ts'
import { sendInHalves, type Taken } from '../platform-api/rows/halving.ts'
import { Refusals } from '../platform-api/rows/refusals.ts'
import { openAmazonAds } from './amazon-api.ts'
import { accountHeaders, definitionsPath, listDefinitions } from './conversion-definitions.ts'
import { conversionOf, conversionSources, type DspConversion } from './dsp-conversion-rows.ts'
import { takenOf } from './multi-status.ts'
import { countryOf } from './settings.ts'

const mediaType = 'application/vnd.dspconversioneventimport.v1+json'

/** Imports events, those of one source in one request. Amazon keeps the first of those that have the same ID. */
export async function open(context: DestinationContext): Promise<DestinationWriter> {
  assertAccount(context)
  const client = openAmazonAds(context)
  const country = countryOf(context)
  const refusals = new Refusals('Amazon')
  let listed: ReturnType<typeof listDefinitions> | undefined

  async function definitions() {
    listed ??= listDefinitions(context, client)
    try {
      return await listed
    } catch (error) {
      // The next batch asks again.
      listed = undefined
      throw error
    }
  }

  async function send(
    source: string,
    some: readonly RowEvent<DspConversion>[],
  ): Promise<Taken<RowEvent<DspConversion>>> {
    const answer = await client.askObject({
      path: `${definitionsPath(context)}/eventData`,
      method: 'POST',
      headers: accountHeaders(context, mediaType),
      body: { source, eventData: some.map(({ event }) => event.body) },
      expects: ({ status }) => status === 400,
    })
    if (answer.status === 400) return { bytes: answer.bytesSent, refused: notTaken }
    return takenOf(answer, some)
  }

  return {
    async deliver(batch) {
      const defaults = { country, definitions: await definitions() }
      const { events, rejected } = readEvents(batch, (row) => conversionOf(batch, row, defaults))
      let bytes = 0
      for (const source of conversionSources) {
        const ofSource = events.filter(({ event }) => event.source === source)
        const sent = await sendInHalves(ofSource, refusals, (some) => send(source, some))
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
  'Amazon did not accept the event (status 400); check its conversion definition, its time, the person, the country and the value.'

/** Looks at the settings and asks for the conversion definitions of the advertiser account, which changes nothing. */
export async function inspectAccount(context: ConnectorContext): Promise<void> {
  assertAccount(context)
  countryOf(context)
  await listDefinitions(context, openAmazonAds(context))
}

function assertAccount({ secrets }: ConnectorContext): void {
  if (/^\d{1,30}$/.test(textIn(secrets.accountId) ?? '')) return
  const message = 'The account ID must be the number of the DSP advertiser; the ID of an entity is not accepted.'
  throw new ConnectorError('invalid_setting', message)
}
