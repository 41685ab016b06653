import { number, text, type Values } from '@penstock/connector'
import { type ErrorFact, idSetting, restApi } from '../kit/api.ts'
import { audienceDestination } from '../kit/audience-destination.ts'
import { type JsonObject, objectIn } from '../platform-api/json.ts'
import type { Read } from '../platform-api/rows/events.ts'
import { externalAudienceIdOf, mediaType } from './advertiser-audiences.ts'
import { amazonAdsApi, clientIdOf } from './api.ts'
import { consentOf, externalIdOf, identityOf, memberColumns } from './audience-columns.ts'
import { authorizationOrTokens } from './authorization.ts'
import { optionalConsent } from './consent.ts'
import { amazonAds } from './platform.ts'
import { region } from './region.ts'
import { signInOrTokens } from './sign-in.ts'

/** IDs are numbers of up to 64 bits, which JSON of JavaScript cannot hold: they are read and written as texts. */
const idPattern = /^[1-9]\d{0,19}$/
const headers = { accept: mediaType, 'content-type': mediaType }

function finish(member: JsonObject, _row: unknown, settings: Values): Read<JsonObject> {
  const pii = objectIn(member['@pii'])
  const consent = consentOf(member, settings)
  if ('wrong' in consent) return consent
  return {
    read: {
      externalUserId: externalIdOf(member['@externalUserId'], { email: pii.email, phone: pii.phone }, pii),
      countryCode: member['@country'],
      hashedPII: [pii],
      userConsent: consent.read,
    },
  }
}

const refusal: ErrorFact = ['invalid_batch', 'Check the ID of the audience and how the identifiers were hashed.']

/** Advertiser audiences, made and kept up to date in Amazon DSP itself. */
export const amazonAdsDspAudiences = audienceDestination({
  slug: 'amazon-ads-dsp-audiences',
  name: 'Amazon Ads DSP Audiences',
  platform: amazonAds,
  dataType: 'audiences',
  description:
    'Creates audiences from your own data in Amazon DSP directly, without Data Manager, and keeps them up to date.',
  actions: ['create', 'add', 'remove'],
  notes:
    'Amazon must have allowed your application to use its Ads API with the scope of data providers. For a new connection, consider Amazon Ads Data Manager DSP Audiences, which Amazon recommends. Only audiences that were created through this API can be changed. Amazon does not list them, so Penstock stores the ID of each audience that it created, per connection; name an audience of another connection by segment_id. If a transfer is interrupted right after it created an audience, the next attempt creates another one with the same name, and the first one stays empty. An audience needs some 2,000 matched people. Amazon processes data within about 15 minutes, but it can take up to 36 hours until the audience appears in the DSP. Several rows of a batch with the same external_user_id count as one person, and the last of them is sent. Every person needs a country, of the row or the connection, and in the region EU also a consent.',
  tested:
    'Our own test server, which follows the published documentation of Amazon’s Advertiser audiences API and its models; not Amazon itself.',
  api: { version: 'Advertiser audiences API v1 of Amazon Ads', ends: 'no end is announced' },
  platformApi: (context) => {
    const { errors, ...api } = amazonAdsApi(context)
    const statuses = {
      ...errors?.statuses,
      403: [
        'permission_denied',
        'Check the ID of the advertiser and the region, that the user who signed in may edit its audiences, and that Amazon has allowed your application to use its Ads API as a data provider.',
      ],
      404: ['object_not_found', 'Check the ID of the audience.'],
    } as const
    return restApi({
      ...api,
      headers: { 'amazon-advertising-api-clientid': clientIdOf(context) },
      errors: { statuses },
    })
  },
  auth: { open: async (context) => (await import('./amazon-api.ts')).openSavedTokens(context) },
  secrets: signInOrTokens,
  authorization: authorizationOrTokens,
  account: 'advertiserId',
  settings: {
    advertiserId: idSetting({
      label: 'Advertiser ID',
      description: 'ID of the DSP advertiser that owns the audience',
      required: true,
      pattern: idPattern,
      example: '590000000000000001',
    }),
    region,
    country: idSetting({
      label: 'Country',
      description: 'Country where the data was collected, for rows without a value, such as US or DE',
      pattern: /^[A-Za-z]{2}$/,
      example: 'US',
      what: 'two letters of ISO 3166',
    }),
    externalUserId: text({
      label: 'External user ID',
      description: 'No longer used: map the column with your own user ID to external_user_id',
    }),
    ...optionalConsent,
    resultWaitSeconds: number({
      keepsState: 'pace',
      label: 'Wait for results (s)',
      description:
        'How long each batch waits for Amazon to report people whose data it could not read, usually a few minutes; 0 does not wait',
      default: 0,
      min: 0,
      max: 1800,
    }),
  },
  batch: { rowsMax: 5_000, bytesMax: 900_000 },
  columns: memberColumns({
    email: 'email',
    phone: 'phone',
    firstName: 'firstname',
    lastName: 'lastname',
    address: 'address',
    city: 'city',
    state: 'state',
    postalCode: 'postal',
  }),
  identity: identityOf,
  finish,
  lists: {
    id: idPattern,
    name: { pattern: /^.{10,128}$/s, wanted: 'The name of an audience has 10 to 128 characters.' },
    make: ({ account }, name) => {
      const rest = JSON.stringify({
        name,
        description: name,
        metadata: { externalAudienceId: externalAudienceIdOf(account, name) },
      })
      const body = `{"targetResource":{"advertiserId":${account}},${rest.slice(1)}`
      return { path: '/amc/audiences/metadata', headers, body }
    },
    made: ({ text: answer }) => /"audienceId"\s*:\s*"?(\d{1,20})\b/.exec(answer)?.[1],
    get: (_to, id) => ({ path: `/amc/audiences/metadata/${id}`, headers: { accept: mediaType } }),
  },
  request: (people, { audience, verb }) => {
    const records = people.map((person) => ({ action: verb === 'add' ? 'CREATE' : 'DELETE', ...person }))
    return {
      path: '/amc/audiences/records',
      headers,
      // Sending the same people again does not change the audience.
      repeatable: true,
      body: `{"audienceId":${audience},"records":${JSON.stringify(records)}}`,
    }
  },
  answer: { means: ({ status }) => (status === 400 ? refusal : undefined) },
  later: async (client, context) => (await import('./advertiser-audiences.ts')).openUploads(client, context),
  check: {
    authentication: async (context) => (await import('./amazon-api.ts')).openSavedTokens(context).headers(),
    credentials: 'the credentials',
    account: () => ({ path: '/v2/profiles' }),
    noAccount: { path: '/v2/profiles' },
  },
})
