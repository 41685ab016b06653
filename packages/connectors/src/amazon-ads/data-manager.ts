import type { ConnectorContext, Values } from '@penstock/connector'
import { type ErrorFact, idSetting, type RestApi, restApi } from '../kit/api.ts'
import type { AudienceDestination, PersonBlame } from '../kit/audience-facts.ts'
import { plain } from '../kit/columns.ts'
import type { Answer } from '../platform-api/call.ts'
import { isObject, type JsonObject, listIn, objectIn, textIn } from '../platform-api/json.ts'
import type { Read } from '../platform-api/rows/events.ts'
import { amazonAdsApi, clientIdOf } from './api.ts'
import { consentOf, externalIdOf, identityOf, memberColumns } from './audience-columns.ts'
import { region } from './region.ts'

/** The kind of requests with members, and of their answers. */
const mediaType = 'application/vnd.admAudiences.v1+json'

const partner = (key: string, description: string, synonyms: readonly string[] = []) =>
  plain(`@external.${key}`, description, { identifies: true, lengthMax: 512, synonyms })

/** The setting of the country, which every new dataset has. */
const datasetCountry = idSetting({
  label: 'Country',
  description: 'Country of the data, such as US or DE, for new audiences and rows without a country',
  pattern: /^[A-Za-z]{2}$/,
  example: 'US',
  what: 'two letters of ISO 3166',
  needed: true,
})

/** The form of the IDs of accounts, which are sent in a header. */
export const accountPattern = /^[A-Za-z0-9][A-Za-z0-9._:-]{1,127}$/

/**
 * Ads data manager for one account.
 * @param header names the account
 * @param setting holds its ID
 * @param permission the permission that the signed-in user needs
 */
export const dataManagerApi =
  (header: string, setting: string, permission: string) =>
  (context: Pick<ConnectorContext, 'secrets' | 'settings'>): RestApi =>
    restApi({
      ...amazonAdsApi(context),
      headers: {
        'amazon-advertising-api-clientid': clientIdOf(context),
        [header]: String(context.settings[setting] ?? '').trim(),
      },
      errors: {
        codeAt: 'code',
        codes: { DuplicateDatasetName: 'conflict' },
        statuses: {
          401: ['invalid_credentials', 'Sign in with Amazon again and save the new refresh token in the connector.'],
          403: [
            'permission_denied',
            `Check the ID of the account and the region, that the user who signed in has the permission ${permission}, and that Amazon has allowed your application to use its Ads API.`,
          ],
          404: [
            'object_not_found',
            'Check the ID of the audience, and that the terms of Ads data manager are accepted in the account.',
          ],
        },
      },
    })

/** The members that Amazon rejects of a request that it accepts, by their places from 0, with its codes. */
function blamedIn({ status, json }: Answer, people: readonly JsonObject[]): PersonBlame[] {
  if (status >= 300) return []
  return errorsIn(json).flatMap((error): PersonBlame[] => {
    const at = placeOf(error, people.length)
    return at === undefined ? [] : [{ at, reason: `Amazon did not accept the person${codesOf(error)}.` }]
  })
}

const errorsIn = (json: unknown): JsonObject[] => listIn(objectIn(json).errors).filter(isObject)
const placeOf = ({ index }: JsonObject, count: number): number | undefined =>
  Number.isSafeInteger(index) && Number(index) >= 0 && Number(index) < count ? Number(index) : undefined

/** Only the codes, because Amazon's messages can quote what was sent. */
function codesOf(error: JsonObject): string {
  const codes = [error, ...listIn(error.errors).filter(isObject)]
    .flatMap(({ code, errorCode, errorType }) => [code, errorCode, errorType])
    .flatMap((code) => textIn(code) ?? [])
    .filter((code) => /^[\w.-]{1,60}$/.test(code))
  return codes.length === 0 ? '' : ` (${[...new Set(codes)].slice(0, 5).join(', ')})`
}

/** How many items of a request are accepted: all except the named ones, and except one for each error that names no one. */
function takenOf({ json }: Answer, count: number): number {
  const errors = errorsIn(json)
  const places = errors.flatMap((error) => placeOf(error, count) ?? [])
  return count - new Set(places).size - (errors.length - places.length)
}

const isRefusal = ({ status }: Answer): ErrorFact | undefined =>
  status === 400 ? ['invalid_batch', 'Check how the identifiers were hashed, the country and the consent.'] : undefined

function finish(member: JsonObject, _row: unknown, settings: Values): Read<JsonObject> {
  const pii = objectIn(member['@pii'])
  const external = objectIn(member['@external'])
  const consent = consentOf(member, settings)
  if ('wrong' in consent) return consent
  return {
    read: {
      externalUserId: externalIdOf(member['@externalUserId'], { em: pii.em, ph: pii.ph, ...external }, pii),
      userIdentity: {
        hashedPiis: Object.keys(pii).length > 0 ? [pii] : undefined,
        externalIdentities:
          Object.keys(external).length > 0 ? Object.entries(external).map(([key, id]) => ({ [key]: id })) : undefined,
      },
      userConsent: consent.read,
    },
  }
}

/** The facts that all audiences of Ads data manager share. */
export const dataManagerFacts = {
  actions: ['create', 'add', 'remove'],
  tested:
    'Our own test server, which follows the published documentation of the Ads data manager API and its models; not Amazon itself.',
  api: { version: 'Ads data manager API 3.0, members v1', ends: 'no end is announced' },
  auth: { open: async (context) => (await import('./amazon-api.ts')).openAmazonTokens(context) },
  batch: { rowsMax: 5_000, bytesMax: 4_000_000 },
  columns: {
    ...memberColumns({
      email: 'em',
      phone: 'ph',
      firstName: 'fn',
      lastName: 'ln',
      address: 'ad',
      city: 'cty',
      state: 'st',
      postalCode: 'zip',
    }),
    maid: partner('maId', 'Advertising ID of the device, not hashed: IDFA on iOS, GAID on Android', ['idfa', 'gaid']),
    liveramp_id: partner('liveRampId', 'LiveRamp identifier, not hashed', ['ramp_id']),
    transunion_id: partner('transunionId', 'TransUnion identifier, not hashed'),
    neustar_id: partner('neustarId', 'Neustar identifier, not hashed'),
    merkle_id: partner('merkleId', 'Merkle identifier, not hashed'),
    experian_id: partner('experianId', 'Experian identifier, not hashed'),
    kantar_id: partner('kantarId', 'Kantar identifier, not hashed'),
    real_id: partner('realId', 'RealId identifier, not hashed'),
    samba_tv_id: partner('sambaTvId', 'Samba TV identifier, not hashed'),
  },
  identity: identityOf,
  finish,
  lists: {
    id: /^[A-Za-z0-9][\w.:-]{0,199}$/,
    name: {
      pattern: /^[A-Za-z][A-Za-z0-9_-]{4,99}$/,
      wanted:
        'The name of an audience has 5 to 100 letters, digits, underscores and hyphens, and begins with a letter: Loyal_customers.',
    },
    ownName: (transferId) => `Penstock_${transferId}`,
    page: (_to, nextToken) => ({ path: '/adm/audiences', query: { limit: '100', nextToken } }),
    found: ({ json }) =>
      listIn(objectIn(json).dataSets)
        .map(objectIn)
        .map(({ dataSetId, name, dateCreated }) => ({ id: dataSetId, name, created: dateCreated })),
    next: ({ json }) => objectIn(json).nextToken,
    make: ({ settings }, name) => ({
      path: '/adm/audiences',
      body: { name, countryCode: String(settings.country).trim().toUpperCase(), description: name },
    }),
    made: ({ json }) => objectIn(json).dataSetId,
    get: (_to, id) => ({ path: `/adm/audiences/${id}` }),
  },
  request: (people, { audience, verb }) => ({
    path: `/adm/audiences/${audience}/members`,
    headers: { accept: mediaType, 'content-type': mediaType },
    // Sending the same members again does not change the audience.
    repeatable: true,
    body: { members: people.map((person) => ({ action: verb === 'add' ? 'CREATE' : 'DELETE', ...person })) },
  }),
  answer: {
    blames: blamedIn,
    taken: (answer, { rows }) => takenOf(answer, rows.length),
    means: isRefusal,
  },
  check: {
    authentication: async (context) => (await import('./amazon-api.ts')).openAmazonTokens(context).token(),
    credentials: 'the refresh token',
    account: () => ({ path: '/adm/audiences', query: { limit: '1' } }),
  },
} satisfies Partial<AudienceDestination>

/** The settings of all audiences of Ads data manager, in addition to the account. */
export const dataManagerSettings = { region, country: datasetCountry }
