import { createHash } from 'node:crypto'
import { type Fields, text, type Values } from '@penstock/connector'
import { idSetting } from '../kit/api.ts'
import type { EventDestination } from '../kit/event-facts.ts'
import { type JsonObject, listIn, numberIn, objectIn, textIn } from '../platform-api/json.ts'
import type { BatchRow } from '../platform-api/rows/batch-rows.ts'
import { isSha256 } from '../platform-api/rows/batch-rows.ts'
import { type Read, wrong } from '../platform-api/rows/events.ts'
import { metaApi } from './api.ts'
import { metaEcapi } from './ecapi.ts'
import { readApp } from './event-app.ts'
import { personColumns } from './event-columns.ts'
import { metaErrorOf } from './graph-errors.ts'
import { datasets } from './listings.ts'

type Shared =
  | 'api'
  | 'platformApi'
  | 'batch'
  | 'request'
  | 'answer'
  | 'person'
  | 'finish'
  | 'check'
  | 'listed'
  | 'ecapi'

/** The facts that the destinations of Meta's Conversions API share. */
export const metaEvents: Pick<EventDestination, Shared> = {
  api: { version: 'Graph API v26.0', ends: 'about two years after its release; Meta announces the date' },
  platformApi: metaApi,
  batch: { rowsMax: 1000, bytesMax: 4_000_000 },
  // Meta accepts all events of a request or none, and keeps the first of several events with the same name and ID.
  request: (events, { settings: { datasetId, testEventCode } }) => ({
    path: `/${String(datasetId).trim()}/events`,
    body: {
      data: events,
      partner_agent: 'penstock',
      ...(testEventCode === undefined ? {} : { test_event_code: String(testEventCode).trim() }),
    },
  }),
  ecapi: metaEcapi,
  answer: {
    // The codes of Meta's errors decide.
    refuses: () => false,
    // With the numbers of the error.
    refusal: (answer) => metaErrorOf(answer)?.message ?? 'Meta refuses the event.',
    taken: ({ json }) => numberIn(objectIn(json).events_received),
  },
  person: {
    anyOf: [
      ...Object.values(personColumns).flatMap(({ to, reading, oneOf }) =>
        oneOf === 'identifier' && reading.kind !== 'object' ? [to] : [],
      ),
      'user_data.partner_id',
      'user_data.whatsapp_business_account_id',
    ],
    missing: 'The row has nothing by which Meta can find the person.',
    field: 'email',
  },
  finish: finishEvent,
  listed: { datasetId: datasets },
  check: async (context) => (await import('./check.ts')).checkConversions(context),
}

/**
 * The settings of a connection that sends events. @param dataset describes the dataset; @param others settings after the
 * dataset
 */
export const eventSettings = (dataset: string, others: Fields = {}): EventDestination['settings'] => ({
  datasetId: idSetting({
    label: 'Dataset ID',
    description: dataset,
    required: true,
    pattern: /^\d+$/,
    example: '1234567890',
  }),
  ...others,
  testEventCode: text({
    label: 'Test event code',
    description: 'Code from Meta Events Manager; events with it are shown there as tests',
  }),
})

function finishEvent(event: JsonObject, row: BatchRow, settings: Values): Read<JsonObject> {
  const { '@click': click, '@limited': limited, '@country': country = 0, '@state': state = 0 } = event
  if (event.event_name === 'Purchase' && !isPriced(objectIn(event.custom_data))) {
    const field = row.text('custom_data') === undefined ? 'value' : 'custom_data'
    return wrong('A Purchase needs a value as a number and a currency of three letters.', field)
  }
  const describesApp = event.action_source === 'app' || row.text('app_data') !== undefined
  const app = describesApp ? readApp(row, textIn(settings.appPlatform)) : { read: {} }
  if ('wrong' in app) return app
  const user = objectIn(event.user_data)
  return {
    read: {
      ...event,
      user_data: {
        ...user,
        ...externalIds(user.external_id, event['@external_ids']),
        lead_id: asNumber(user.lead_id),
        fb_login_id: asNumber(user.fb_login_id),
        // Meta joins the click with the time of the click, of which the event's is the nearest that is known.
        fbc: user.fbc ?? (click === undefined ? undefined : `fb.1.${Number(event.event_time) * 1000}.${click}`),
      },
      app_data: app.read,
      ...(limited === true && {
        data_processing_options: ['LDU'],
        // 0 leaves it to Meta to find out where the person is.
        data_processing_options_country: country,
        data_processing_options_state: state,
      }),
    },
  }
}

/** The ID of the one column, and the digests of the IDs in the list. */
function externalIds(one: unknown, more: unknown): JsonObject {
  const digests = listIn(more)
    .map(String)
    .map((id) => (isSha256(id) ? id : sha256(id)))
  return digests.length === 0 ? {} : { external_id: [...new Set([one ?? [], digests].flat())] }
}

const sha256 = (text: string): string => createHash('sha256').update(text).digest('hex')

const isPriced = ({ value, currency }: JsonObject): boolean => typeof value === 'number' && typeof currency === 'string'
const asNumber = (id: unknown): unknown => (/^\d{1,15}$/.test(textIn(id) ?? '') ? Number(id) : id)
