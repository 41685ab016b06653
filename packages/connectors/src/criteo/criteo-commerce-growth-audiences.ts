import { idSetting, restApi } from '../kit/api.ts'
import { audienceDestination, segmentColumns } from '../kit/audience-destination.ts'
import { plain } from '../kit/columns.ts'
import type { Answer } from '../platform-api/call.ts'
import type { PlatformCall } from '../platform-api/client.ts'
import { type JsonObject, listIn, numberIn, objectIn, textIn } from '../platform-api/json.ts'
import type { BatchRow } from '../platform-api/rows/batch-rows.ts'
import { type Read, wrong } from '../platform-api/rows/events.ts'
import { audienceFields } from './audience.ts'
import { audienceErrors } from './errors.ts'
import { criteo } from './platform.ts'
import { signIn } from './sign-in.ts'
import { criteoApi, criteoVersion } from './version.ts'

/** Criteo's API for Commerce Growth (Marketing Solutions). */
const api = restApi({
  name: 'Criteo',
  baseUrl: `https://api.criteo.com/${criteoVersion}/marketing-solutions`,
  errors: audienceErrors,
})

/** A search for contact lists: all lists of an advertiser, or one by its ID. */
const search = (filter: object, { limit = 100, offset = '0' } = {}): PlatformCall => ({
  method: 'POST',
  path: '/audience-segments/search',
  query: { limit: String(limit), offset },
  body: { data: { attributes: { audienceSegmentTypes: ['ContactList'], ...filter } } },
  repeatable: true,
})

const found = ({ json }: Answer) =>
  listIn(objectIn(json).data)
    .map(objectIn)
    .map(({ id, attributes }) => ({ id, name: objectIn(attributes).name }))

/**
 * Omits values that Criteo does not accept. It accepts only Indian phone numbers, and a refused number must not cost the other
 * identifiers.
 */
function finish(person: JsonObject, _: BatchRow, settings: Readonly<Record<string, unknown>>): Read<JsonObject> {
  const { customerId, phoneNumber, ...others } = person
  if (others.gum !== undefined && textIn(settings.gumCallerId) === undefined) {
    return wrong('An ID from Criteo’s cookie needs the GUM caller ID of the connection.', 'gum')
  }
  if (Object.keys(others).length > 0) return { read: others }
  return phoneNumber === undefined
    ? wrong('Criteo does not accept customer IDs in contact lists of Commerce Growth.', 'customerid')
    : { read: { phoneNumber } }
}

/** Contact lists of Criteo Commerce Growth. */
export const criteoCommerceGrowthAudiences = audienceDestination({
  slug: 'criteo-commerce-growth-audiences',
  name: 'Criteo Commerce Growth Audiences',
  platform: criteo,
  dataType: 'audiences',
  description: 'Creates contact lists in Criteo Commerce Growth, and adds people to them or removes them.',
  actions: ['create', 'add', 'remove'],
  notes:
    'The app needs the permission to manage audiences and the consent of the advertiser. Rows without an audience share one that is created for the connection. Criteo counts the identifiers that it finds invalid and shows some of them: those rows are reported, the others only counted. If a person has several identifiers, the first one in the order of the columns is reported. Criteo has no lifespan for contact lists, so this setting has no effect. The audience source becomes the description of the list. Send only people who have agreed to it: Criteo does not accept information on consent.',
  tested: 'Our own test server, which follows the OpenAPI document that Criteo publishes; not Criteo itself.',
  api: criteoApi,
  platformApi: api,
  auth: { open: async (context) => (await import('./tokens.ts')).openCriteoTokens(context) },
  secrets: signIn,
  account: 'advertiserId',
  settings: {
    ...audienceFields,
    advertiserId: idSetting({
      label: 'Advertiser ID',
      description: 'ID of the advertiser that owns the audiences; needed if rows do not have segment_id',
      pattern: /^\d{1,15}$/,
      example: '12345',
    }),
    gumCallerId: idSetting({
      label: 'GUM caller ID',
      description: 'Number that Criteo gave you for IDs from its cookie; needed if rows have such IDs',
      pattern: /^\d{1,9}$/,
      example: '123',
    }),
  },
  listed: {
    advertiserId: {
      kind: 'account',
      platformApi: { ...api, baseUrl: `https://api.criteo.com/${criteoVersion}` },
      page: () => ({ path: '/advertisers/me' }),
      found: ({ json }) =>
        listIn(objectIn(json).data)
          .map(objectIn)
          .map(({ id, attributes }) => ({ id, name: objectIn(attributes).advertiserName })),
    },
  },
  batch: { rowsMax: 50_000, bytesMax: 8_000_000 },
  columns: {
    ...segmentColumns,
    email: {
      ...plain(
        'email',
        'E-mail address, which is hashed before it is sent, or its MD5, its SHA-256, or the SHA-256 of its MD5',
        { identifies: true, normalise: 'email' },
      ),
      hashed: ['sha256', 'md5'],
    },
    madid: plain('madid', 'Advertising ID of a mobile device', { identifies: true }),
    identityLink: plain('identityLink', 'IdentityLink from LiveRamp', { identifies: true }),
    gum: plain('gum', 'ID from Criteo’s own cookie', { identifies: true }),
    customerid: plain('customerId', 'Your own customer ID', { identifies: true }),
    phonenumber: plain(
      'phoneNumber',
      'Phone number as plain text or its SHA-256; Criteo accepts it in India only, and it is sent only if the row has no other identifier',
      { identifies: true },
    ),
  },
  finish,
  lists: {
    id: /^\d{1,15}$/,
    page: ({ account }, offset = '0') => search({ advertiserIds: [account] }, { offset }),
    found,
    next: (answer, offset = '0') => {
      const { length } = found(answer)
      const next = Number(offset) + length
      return length > 0 && next < (numberIn(objectIn(objectIn(answer.json).meta).totalItems) ?? 0)
        ? String(next)
        : undefined
    },
    make: ({ account: advertiserId, settings }, name) => {
      const source = textIn(settings.audienceSource)
      const description = source === undefined ? 'Kept by Penstock' : `Kept by Penstock, from ${source}`
      return {
        path: '/audience-segments/create',
        body: { data: [{ attributes: { advertiserId, name, description, contactList: {} } }] },
      }
    },
    made: (answer) => found(answer)[0]?.id,
    get: (_, id) => search({ audienceSegmentIds: [id] }),
    isThere: (answer, id) => found(answer).some((one) => textIn(one.id) === id),
    measure: {
      ask: (_, id) => ({ path: `/audience-segments/${id}/contact-list/statistics` }),
      read({ json }) {
        const { numberOfIdentifiers, numberOfMatches } = objectIn(objectIn(objectIn(json).data).attributes)
        return { size: numberOfMatches, received: numberOfIdentifiers, matched: numberOfMatches }
      },
    },
  },
  send: async (client) => (await import('./send-contacts.ts')).contactSender(client),
  check: {
    credentials: 'the app and the refresh token',
    account: ({ account }) => search({ advertiserIds: [account] }, { limit: 1 }),
    noAccount: search({}, { limit: 1 }),
  },
})
