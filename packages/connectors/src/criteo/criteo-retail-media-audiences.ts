import { ConnectorError, select } from '@penstock/connector'
import { idSetting, restApi } from '../kit/api.ts'
import { audienceDestination, segmentColumns } from '../kit/audience-destination.ts'
import type { AccountTarget } from '../kit/audience-facts.ts'
import { digest, plain } from '../kit/columns.ts'
import type { Answer } from '../platform-api/call.ts'
import type { PlatformCall } from '../platform-api/client.ts'
import { isObject, type JsonObject, listIn, numberIn, objectIn, textIn } from '../platform-api/json.ts'
import type { BatchRow } from '../platform-api/rows/batch-rows.ts'
import { type Read, wrong } from '../platform-api/rows/events.ts'
import { audienceFields } from './audience.ts'
import { audienceErrors } from './errors.ts'
import { criteo } from './platform.ts'
import { signIn } from './sign-in.ts'
import { criteoApi, criteoVersion } from './version.ts'

/** Criteo's API for Retail Media. */
const api = restApi({
  name: 'Criteo',
  baseUrl: `https://api.criteo.com/${criteoVersion}/retail-media`,
  errors: audienceErrors,
})

/** The kinds of identifiers of a contact list: the key at Criteo, its column, and its name in the form. */
const kinds = [
  ['Email', 'email_sha256', 'E-mail addresses'],
  ['PhoneNumber', 'phone_sha256', 'Phone numbers'],
  ['UserIdentifier', 'maid', 'Advertising IDs of devices'],
  ['IdentityLink', 'identityLink', 'IdentityLinks'],
  ['CustomerId', 'customerid', 'Customer IDs'],
] as const

/** The kind that a connection chose for its audiences. `undefined` if it chose none. */
const chosenKind = (settings: AccountTarget['settings']) =>
  kinds.find(([key]) => key === textIn(settings.identifierType))

/** A search for contact lists: all lists of an account, or one by its ID. Pages hold up to 500. */
const search = ({ account }: AccountTarget, filter: object = {}, limit = 500, offset = '0'): PlatformCall => ({
  method: 'POST',
  path: `/accounts/${account}/audience-segments/search`,
  query: { limit: String(limit), offset },
  body: { data: { attributes: { audienceSegmentTypes: ['ContactList'], ...filter } } },
  repeatable: true,
})

/** The lists of the retailer, if the connection names one. Other retailers can have a list of the same name. */
const ofRetailer = ({ settings }: AccountTarget) => {
  const retailer = textIn(settings.retailerId)?.trim()
  return retailer === undefined ? {} : { retailerIds: [retailer] }
}

const entriesIn = ({ json }: Answer) => listIn(objectIn(json).data).map(objectIn)
const found = (answer: Answer) =>
  entriesIn(answer)
    .map(({ id, attributes }) => ({ id, ...objectIn(attributes) }) as JsonObject)
    .filter(({ contactList }) => objectIn(contactList).isReadOnly !== true)
    .map(({ id, name, createdAt }) => ({ id, name, created: createdAt }))

/** The offset of the page after this one. */
const nextOffset = (answer: Answer, offset = '0'): string | undefined => {
  const { length } = entriesIn(answer)
  const next = Number(offset) + length
  const total = numberIn(objectIn(objectIn(answer.json).meta).totalItems) ?? 0
  return length > 0 && next < total ? String(next) : undefined
}

/** Makes a list for a retailer, of the kind of identifiers of the connection or of the first of its columns. */
function make({ account, settings }: AccountTarget, name: string, columns: readonly string[]): PlatformCall {
  const retailerId = textIn(settings.retailerId)?.trim()
  if (retailerId === undefined) {
    throw new ConnectorError('invalid_setting', 'Set “Retailer ID” in the connection: a new audience belongs to one.')
  }
  const kind = chosenKind(settings) ?? kinds.find(([, column]) => columns.includes(column))
  const source = textIn(settings.audienceSource)
  const description = source === undefined ? 'Kept by Penstock' : `Kept by Penstock, from ${source}`
  const contactList = { identifierType: kind?.[0] }
  return {
    path: `/accounts/${account}/audience-segments/create`,
    body: { data: [{ type: 'AudienceSegment', attributes: { name, description, retailerId, contactList } }] },
  }
}

/** A list has identifiers of one kind: the kind of the connection, or the first kind that the row has. */
function finish(person: JsonObject, _: BatchRow, settings: AccountTarget['settings']): Read<JsonObject> {
  const chosen = chosenKind(settings)
  const [key, column] = chosen ?? kinds.find(([one]) => person[one] !== undefined) ?? kinds[0]
  if (person[key] !== undefined) return { read: { [key]: person[key] } }
  return wrong(`The row has no identifier of the kind that the connection sends: ${chosen?.[2] ?? key}.`, column)
}

/** The result of an amendment. */
const resultIn = ({ json }: Answer): JsonObject => objectIn(objectIn(json).data)

/** Contact lists of Criteo Retail Media. */
export const criteoRetailMediaAudiences = audienceDestination({
  slug: 'criteo-retail-media-audiences',
  name: 'Criteo Retail Media Audiences',
  platform: criteo,
  dataType: 'audiences',
  description: 'Creates audiences from your own data for retail media at Criteo and keeps their members up to date.',
  actions: ['create', 'add', 'remove'],
  notes:
    'The app needs the permission to manage audiences and the consent of the account. Rows without an audience share one that is created for the connection. A contact list belongs to a retailer and holds identifiers of one kind: choose it as the identifier type, or each row is sent by its first identifier, in the order of the columns, and a new audience takes the kind of the first column. Criteo counts the identifiers that it finds invalid and shows some of them: those rows are reported, the others only counted. Changes count for a live campaign after Criteo has computed audiences, which it does at 0:00 and 12:00 UTC and which takes about five hours; Penstock counts what Criteo accepted, not what it matched. Criteo has no lifespan for contact lists, so this setting has no effect. The audience source becomes the description of the list. Send only people who have agreed to it: Criteo does not accept information on consent.',
  tested: 'Our own test server, which follows the OpenAPI document that Criteo publishes; not Criteo itself.',
  api: criteoApi,
  platformApi: api,
  auth: { open: async (context) => (await import('./tokens.ts')).openCriteoTokens(context) },
  secrets: signIn,
  account: 'accountId',
  settings: {
    accountId: idSetting({
      label: 'Account ID',
      description: 'ID of the Retail Media account that owns the audiences; needed if rows do not have segment_id',
      pattern: /^\d{1,19}$/,
      example: '18446744',
    }),
    retailerId: idSetting({
      label: 'Retailer ID',
      description: 'ID of the retailer; needed if the connection creates an audience',
      pattern: /^\d{1,19}$/,
      example: '1234',
    }),
    identifierType: select({
      asked: true,
      label: 'Identifier type',
      description: 'Kind of identifiers in the audiences. By default the first identifier of each row',
      options: kinds.map(([key]) => key),
      labels: Object.fromEntries(kinds.map(([key, , label]) => [key, label])),
    }),
    ...audienceFields,
  },
  listed: {
    accountId: {
      kind: 'account',
      page: (pageIndex = '0') => ({ path: '/accounts', query: { pageIndex, pageSize: '100' } }),
      found: (answer) => entriesIn(answer).map(({ id, attributes }) => ({ id, name: objectIn(attributes).name })),
      next: ({ json }) => {
        const { currentPageIndex, totalPages } = objectIn(objectIn(json).metadata)
        const next = (numberIn(currentPageIndex) ?? 0) + 1
        return next < (numberIn(totalPages) ?? 0) ? String(next) : undefined
      },
    },
  },
  batch: { rowsMax: 50_000, bytesMax: 8_000_000 },
  columns: {
    ...segmentColumns,
    email_sha256: digest('Email', 'SHA-256 of the e-mail address', 'email'),
    phone_sha256: digest('PhoneNumber', 'SHA-256 of the phone number', 'phone-e164'),
    maid: plain('UserIdentifier', 'Advertising ID of a mobile device', { identifies: true }),
    identityLink: plain('IdentityLink', 'IdentityLink from LiveRamp, if Criteo can match it', { identifies: true }),
    customerid: plain('CustomerId', 'Your own customer ID, if Criteo can match it', { identifies: true }),
  },
  finish,
  lists: {
    id: /^\d{1,19}$/,
    page: (to, offset) => search(to, ofRetailer(to), 500, offset),
    found,
    next: nextOffset,
    make,
    made: (answer) => entriesIn(answer)[0]?.id,
    get: (to, id) => search(to, { audienceSegmentIds: [id] }, 1),
    isThere: (answer, id) => found(answer).some((one) => textIn(one.id) === id),
  },
  sharing: 'same keys',
  request: (people, { audience, verb, keys: [identifierType = ''] }) => ({
    path: `/audience-segments/${audience}/contact-list/add-remove`,
    body: {
      data: {
        type: 'AddRemoveContactlist',
        attributes: {
          operation: verb,
          identifierType,
          identifiers: people.map((person) => person[identifierType]),
        },
      },
    },
  }),
  answer: {
    blames: (answer, people) => {
      const samples = new Set(listIn(resultIn(answer).sampleInvalidIdentifiers).map(String))
      return people.flatMap((person, at) =>
        Object.values(person).some((value) => samples.has(String(value)))
          ? [{ at, reason: 'Criteo reports that the identifier is invalid.' }]
          : [],
      )
    },
    taken: (answer) => numberIn(resultIn(answer).nbValidIdentifiers),
    means: ({ status, json }) => {
      if (status >= 300 || (isObject(json) && listIn(json.errors).length > 0)) return undefined
      return numberIn(objectIn(objectIn(json).data).nbValidIdentifiers) === undefined ? 'malformed_response' : undefined
    },
  },
  check: {
    credentials: 'the app and the refresh token',
    account: (to) => search(to, {}, 1),
    noAccount: { path: '/accounts', query: { pageIndex: '0', pageSize: '1' } },
  },
})
