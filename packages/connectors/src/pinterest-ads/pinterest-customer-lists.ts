import { type ConnectorContext, ConnectorError, secret, select, text } from '@penstock/connector'
import { type ErrorFact, idSetting, restApi } from '../kit/api.ts'
import { audienceDestination, segmentColumns } from '../kit/audience-destination.ts'
import { digest } from '../kit/columns.ts'
import { type JsonObject, listIn, objectIn, textIn } from '../platform-api/json.ts'
import { authorization } from './authorization.ts'
import { nextOf, pageOf } from './pages.ts'
import { pinterestAds } from './platform.ts'

const unknown: ErrorFact = [
  'object_not_found',
  'Check the IDs of the ad account, the list and the audience, and that the user of the credentials may see them.',
]

const api = restApi({
  name: 'Pinterest',
  baseUrl: 'https://api.pinterest.com/v5',
  errors: {
    codeAt: 'code',
    codes: {
      // A list that is malformed, or in which no record is valid.
      '2740': 'invalid_batch',
      '2741': 'invalid_batch',
      // A list or an audience that is not there, or was deleted.
      '1000': unknown,
      '1001': unknown,
      '1018': unknown,
      '1020': unknown,
    },
    statuses: {
      400: 'request_refused',
      401: ['expired_credentials', 'Sign in at Pinterest again and save the new tokens in the connector.'],
      403: [
        'permission_denied',
        'The token needs the scopes ads:read and ads:write, and its user a role on the ad account that manages audiences.',
      ],
      404: unknown,
    },
  },
})

const accounts = { path: '/ad_accounts', query: { page_size: '1' } }
const lists = ({ account }: { account: string }) => `${account}/customer_lists`
const itemsIn = (json: unknown): JsonObject[] => listIn(objectIn(json).items).map(objectIn)

/** The audiences of the ad account. Only audiences of a customer list can be changed. */
const audiences = {
  kind: 'audience',
  page(bookmark: string | undefined, { settings: { adAccountId } }: Pick<ConnectorContext, 'settings'>) {
    const account = String(adAccountId ?? '').trim()
    if (/^\d+$/.test(account)) return pageOf(`/ad_accounts/${account}/audiences`, bookmark)
    throw new ConnectorError('invalid_setting', 'Set “Ad account ID” first: audiences belong to it.')
  },
  next: nextOf,
} as const
const changeable = (json: unknown): JsonObject[] =>
  itemsIn(json).filter(({ rule }) => textIn(objectIn(rule).customer_list_id) !== undefined)

/** Customer lists of Pinterest, each with the audience made from it. */
export const pinterestCustomerLists = audienceDestination({
  slug: 'pinterest-customer-lists',
  name: 'Pinterest Customer Lists',
  platform: pinterestAds,
  dataType: 'audiences',
  description: 'Keeps a customer list at Pinterest up to date, and the audience that is based on it.',
  actions: ['create', 'add', 'remove'],
  notes:
    'Each data set fills one list, and each list belongs to one audience, which is created with it. The audience can be targeted when Pinterest has matched 100 people, which takes a day or two; Pinterest does not report which records it matched. The app needs the scopes ads:read and ads:write, and standard access, since trial access is limited to 1,000 requests a day. Send only people who have agreed to it: Pinterest does not accept information on consent. If Pinterest refuses digests, Penstock halves the batch until the rows are found.',
  tested: 'Our own test server, which follows the OpenAPI document that Pinterest publishes; not Pinterest itself.',
  api: { version: 'v5 (5.23.0)', ends: 'No end is known.' },
  platformApi: api,
  auth: { open: async (context) => (await import('./tokens.ts')).openPinterestTokens(context) },
  secrets: {
    authType: select({
      keepsState: 'credential',
      label: 'Sign-in method',
      description: 'Grant access to an API app, or enter tokens',
      options: ['oauth2', 'api-token'],
      labels: { oauth2: 'Sign in with Pinterest', 'api-token': 'Access token' },
      default: 'oauth2',
    }),
    clientId: text({
      keepsState: 'credential',
      label: 'Client ID',
      description: 'ID of the app that calls the API',
      required: true,
    }),
    clientSecret: secret({
      label: 'Client secret',
      description: 'Secret that belongs to the client ID',
      required: true,
    }),
    accessToken: secret({
      label: 'Access token',
      description: 'Access token for calls to the API',
      required: true,
      when: { authType: 'api-token' },
    }),
    refreshToken: secret({
      label: 'Refresh token',
      description: 'Refresh token, which renews the access token when it expires',
      required: true,
    }),
  },
  authorization,
  account: 'adAccountId',
  findAccount: async ({ settings: { adAccountId } }) =>
    textIn(adAccountId) === undefined ? '' : `/ad_accounts/${String(adAccountId).trim()}`,
  own: { id: 'audienceId', name: 'audienceName', comesFirst: true },
  settings: {
    adAccountId: idSetting({
      label: 'Ad account ID',
      description: 'ID of the ad account that owns the audience',
      required: true,
      pattern: /^\d+$/,
      example: '549755885175',
    }),
    audienceName: text({
      asked: true,
      label: 'Audience name',
      description: 'Name of the audience at Pinterest',
      required: true,
    }),
    audienceId: idSetting({
      label: 'Audience ID',
      description: 'Leave empty before the first transfer; then enter the ID that it returned',
      pattern: /^\d+$/,
      example: '2542620905475',
    }),
  },
  listed: {
    adAccountId: {
      kind: 'account',
      page: (bookmark) => pageOf('/ad_accounts', bookmark),
      found: ({ json }) => itemsIn(json).map(({ id, name }) => ({ id, name })),
      next: nextOf,
    },
    // `lists` are the customer lists from which audiences are created.
    audienceId: { ...audiences, found: ({ json }) => changeable(json).map(({ id, name }) => ({ id, name })) },
    audienceName: { ...audiences, found: ({ json }) => changeable(json).map(({ name }) => ({ id: name })) },
  },
  batch: { rowsMax: 10_000, bytesMax: 4_000_000 },
  columns: {
    segment_name: { ...segmentColumns.segment_name, description: 'Name of the customer list', required: true },
    segment_id: { ...segmentColumns.segment_id, synonyms: ['audience_id'] },
    action: segmentColumns.action,
    email: digest('email', 'E-mail address; it is hashed before it is sent', 'email'),
    email_sha256: digest('email_sha256', 'Hashed e-mail address', 'email'),
    idfa: digest('idfa', 'Advertising ID of an iOS device; it is hashed before it is sent', 'device-id'),
    idfa_sha256: digest('idfa_sha256', 'Hashed advertising ID of an iOS device', 'device-id'),
    maid: digest('maid', 'Advertising ID of a mobile device; it is hashed before it is sent', 'device-id'),
    maid_sha256: digest('maid_sha256', 'Hashed advertising ID of a mobile device', 'device-id'),
  },
  identity: (person) => [...new Set(Object.values(person))],
  // Pinterest makes no list without records: they are sent with its name.
  lists: {
    id: /^\d+$/,
    page: (to, bookmark) => pageOf(lists(to), bookmark),
    found: ({ json }) => itemsIn(json).map(({ id, name }) => ({ id, name })),
    next: nextOf,
    get: (to, id) => ({ path: `${lists(to)}/${id}` }),
    // The size belongs to the audience of a list, which has a separate ID.
    measure: {
      read({ json }) {
        const { num_uploaded_user_records: received, status } = objectIn(json)
        return { received, status }
      },
    },
  },
  send: async (client, context) => (await import('./send-records.ts')).recordSender(client, context),
  check: {
    authentication: accounts,
    credentials: 'the credentials',
    account: ({ account }) => ({ path: account }),
    noAccount: accounts,
    means: ({ status, json }, { account }) =>
      account === '' && status === 200 && listIn(objectIn(json).items).length === 0
        ? ['permission_denied', 'Give the user of the credentials a role on an ad account.']
        : undefined,
  },
})
