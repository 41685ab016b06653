import { select, text } from '@penstock/connector'
import { idSetting, restApi } from '../kit/api.ts'
import { audienceDestination, segmentColumns } from '../kit/audience-destination.ts'
import { digest } from '../kit/columns.ts'
import type { Answer } from '../platform-api/call.ts'
import { type JsonObject, listIn, objectIn, textIn } from '../platform-api/json.ts'
import { type Read, wrong } from '../platform-api/rows/events.ts'
import { apiClient } from './api-client.ts'
import { yahooDsp } from './platform.ts'

/** Yahoo's Traffic API. */
const api = restApi({
  name: 'Yahoo',
  baseUrl: 'https://dspapi.admanagerplus.yahoo.com/traffic',
  errors: {
    statuses: {
      // Digests have the right form when they are sent, so an error is about all of them.
      400: [
        'request_refused',
        'Check the advertiser ID, and that the audience holds the kind of identifiers that is sent.',
      ],
      401: ['expired_credentials', 'Check the client ID and the client secret.'],
      403: ['permission_denied', 'Ask Yahoo to enable API access for the client, and check the advertiser ID.'],
      404: ['object_not_found', 'Check the advertiser ID and the IDs of the audiences.'],
    },
    // An answer has either a response or errors.
    special: ({ status, json }) => {
      const { errors } = objectIn(json)
      const isRefused = Array.isArray(errors) ? errors.length > 0 : errors !== undefined && errors !== null
      return status < 300 && isRefused ? 'request_refused' : undefined
    },
  },
})

const pageSize = 100
const entriesIn = ({ json }: Answer) => listIn(objectIn(json).response).map(objectIn)

/** The kinds of identifiers of an audience of Yahoo: the key of Yahoo, the column, and words for it. */
const kinds = [
  ['EMAIL', 'email_sha256', 'e-mail address'],
  ['PHONE_NUMBER', 'phone_sha256', 'phone number'],
] as const

/** A person is sent by the kind of identifier of the connection, or else by the first one that the row has. */
function finish(person: JsonObject, _: unknown, settings: JsonObject): Read<JsonObject> {
  const chosen = kinds.find(([key]) => key === textIn(settings.identifierType))
  const [key, column, words] = chosen ?? kinds.find(([one]) => person[one] !== undefined) ?? kinds[0]
  if (person[key] !== undefined) return { read: { [key]: person[key] } }
  return wrong(`The row has no ${words}, which the identifier type of the connection asks for.`, column)
}

/** Custom audiences of Yahoo DSP, made of hashed contacts. */
export const yahooDspAudiences = audienceDestination({
  slug: 'yahoo-dsp-audiences',
  name: 'Yahoo DSP Audiences',
  platform: yahooDsp,
  dataType: 'audiences',
  description: 'Adds people to audiences of Yahoo DSP by their hashed e-mail addresses and phone numbers.',
  actions: ['create', 'add'],
  notes:
    'Yahoo must enable API access for you first. People can be added to an audience but not removed. Yahoo keeps them for the days of retention: choose 30 days for a short time. To take people out sooner, create an audience of another name without them, and target that one. If a person asks you to delete their data, stop sending them, and ask Yahoo to delete what it has. An audience holds identifiers of one kind: choose the identifier type if rows have both kinds, or only some have e-mail addresses. An audience is found by its name, or created with its first people; rows without an audience share one that is created for the connection. Yahoo takes the identifiers and matches them later: Penstock counts the rows that Yahoo took, and Yahoo shows the size of the audience in its own interface. Yahoo allows 30 changes a minute, 100 an hour and 2,000 a day, each of up to 50,000 people: send many rows at once. Yahoo’s public documents say that a change can have an operation on the people that it sends, but the copies that were read do not show its name or its values. Without it, published clients of the API add people, as this connector does.',
  tested:
    'Our own test server, which follows excerpts of Yahoo’s documentation of its Traffic API and published clients; not Yahoo itself.',
  api: { version: 'Traffic API (customsegments)', ends: 'no end is announced' },
  platformApi: api,
  auth: { open: async (context) => (await import('./tokens.ts')).openYahooTokens(context) },
  secrets: apiClient,
  account: 'advertiserId',
  settings: {
    advertiserName: text({ label: 'Advertiser name', description: 'Name by which you recognise the advertiser' }),
    advertiserId: idSetting({
      label: 'Advertiser ID',
      description: 'ID of the advertiser at Yahoo that owns the audiences',
      required: true,
      pattern: /^\d{1,15}$/,
      example: '1356341',
    }),
    identifierType: select({
      asked: true,
      label: 'Identifier type',
      description: 'Kind of identifiers in the audiences. By default the e-mail address, if a row has one',
      options: ['EMAIL', 'PHONE_NUMBER'],
      labels: { EMAIL: 'E-mail addresses', PHONE_NUMBER: 'Phone numbers' },
    }),
    retentionDays: select({
      label: 'Days of retention',
      description: 'How many days Yahoo keeps the people of a new audience; 180 if it is empty',
      options: ['30', '60', '90', '180'],
    }),
  },
  listed: {
    advertiserId: {
      kind: 'account',
      page: () => ({ path: '/advertisers' }),
      found: (answer) => entriesIn(answer).map(({ id, name }) => ({ id, name })),
    },
  },
  batch: { rowsMax: 50_000, bytesMax: 8_000_000 },
  columns: {
    ...segmentColumns,
    action: { ...segmentColumns.action, description: 'Whether the person is added', values: ['add'] },
    email_sha256: digest('EMAIL', 'Hashed e-mail address', 'email'),
    phone_sha256: digest('PHONE_NUMBER', 'Hashed phone number', 'phone-e164'),
  },
  finish,
  // An audience is made of its first people, and never empty.
  lists: {
    id: /^\d{1,19}$/,
    page: ({ account }, page, name) => ({
      path: '/audiences',
      query: { accountId: account, query: name, limit: String(pageSize), page },
    }),
    // Audiences of Yahoo and of data providers cannot be changed.
    found: (answer) =>
      entriesIn(answer)
        .filter(({ audienceType }) => !/yahoo|dmp|third|3rd/i.test(String(audienceType ?? '')))
        .map(({ id, name, createdAt }) => ({ id, name, created: createdAt })),
    // It is not documented whether the first page is 0 or 1. It can be returned without a number, and possibly once more as 1.
    next: (answer, page) => (entriesIn(answer).length < pageSize ? undefined : String(Number(page ?? 0) + 1)),
    get: ({ account }, id) => ({ path: `/audiences/customsegments/${id}`, query: { accountId: account } }),
  },
  send: async (client, context) => (await import('./send-seeds.ts')).seedSender(client, context),
  check: {
    credentials: 'the client ID and the client secret',
    account: ({ account }) => ({ path: '/audiences', query: { accountId: account, limit: '1' } }),
  },
})
