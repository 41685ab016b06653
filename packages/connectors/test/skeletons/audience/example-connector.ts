import { secret } from '@penstock/connector'
import { bearer, idSetting, restApi } from '../../../src/kit/api.ts'
import { audienceDestination, segmentColumns } from '../../../src/kit/audience-destination.ts'
import { digest } from '../../../src/kit/columns.ts'
import { listIn, numberIn, objectIn } from '../../../src/platform-api/json.ts'
import { exampleAds } from '../platform.ts'

/** Audiences for Example Connector. */
export const exampleConnector = audienceDestination({
  slug: 'example-connector',
  name: 'Example Connector',
  platform: exampleAds,
  dataType: 'audiences',
  description: 'Creates audiences at Example Connector and keeps their members up to date.',
  actions: ['create', 'add', 'remove'],
  notes: 'Limits, delays, and agreements that a person must know of before use.',
  tested: 'Our own test server, which follows the published documentation of the platform; not the platform itself.',
  api: { version: 'v1', ends: 'No end is known.' },
  platformApi: restApi({
    name: 'Example Connector',
    baseUrl: 'https://api.example.com/v1',
    errors: {
      statuses: {
        400: 'invalid_batch',
        401: ['invalid_credentials', 'Create a new access token and save it in the connector.'],
        403: ['permission_denied', 'Give the user of the token access to the ad account.'],
        404: ['object_not_found', 'Check the ID of the ad account or the audience.'],
        429: 'rate_limited',
      },
    },
  }),
  auth: bearer('accessToken'),
  secrets: {
    accessToken: secret({ label: 'Access token', description: 'Token of the platform', required: true }),
  },
  account: 'accountId',
  settings: {
    accountId: idSetting({
      label: 'Ad account ID',
      description: 'ID of the ad account that owns the audiences',
      required: true,
      pattern: /^\d{1,20}$/,
      example: '12345',
    }),
  },
  batch: { rowsMax: 1000, bytesMax: 1_000_000 },
  columns: {
    ...segmentColumns,
    email_sha256: digest('email', 'Hashed e-mail address', 'email'),
    phone_sha256: digest('phone', 'Hashed phone number', 'phone-e164'),
  },
  lists: {
    id: /^\d{1,20}$/,
    nameMax: 200,
    page: ({ account }, cursor) => ({ path: `/accounts/${account}/audiences`, query: { cursor } }),
    found: ({ json }) =>
      listIn(objectIn(json).audiences)
        .map(objectIn)
        .map(({ id, name }) => ({ id, name })),
    next: ({ json }) => objectIn(json).next,
    make: ({ account }, name) => ({ path: `/accounts/${account}/audiences`, body: { name } }),
    made: ({ json }) => objectIn(json).id,
    get: ({ account }, id) => ({ path: `/accounts/${account}/audiences/${id}` }),
  },
  request: (people, { account, audience, verb }) => ({
    path: `/accounts/${account}/audiences/${audience}/members`,
    body: { operation: verb, people },
  }),
  answer: {
    means: ({ status, json }, people) =>
      status === 200 && numberIn(objectIn(json).accepted) !== people ? 'malformed_response' : undefined,
  },
  check: {
    authentication: { path: '/me' },
    credentials: 'the access token',
    account: ({ account }) => ({ path: `/accounts/${account}` }),
  },
})
