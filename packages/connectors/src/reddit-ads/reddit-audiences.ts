import { secret, text } from '@penstock/connector'
import { idSetting, restApi } from '../kit/api.ts'
import { audienceDestination, segmentColumns } from '../kit/audience-destination.ts'
import { digest } from '../kit/columns.ts'
import type { Answer } from '../platform-api/call.ts'
import { listIn, objectIn, textIn } from '../platform-api/json.ts'
import { isUnreadableJson, nextPath, redditApi } from './api.ts'
import { authorization } from './authorization.ts'
import { redditAds } from './platform.ts'

const lists = ({ account }: { account: string }) => `/ad_accounts/${account}/custom_audiences`

/** The places that a refusal names: the field `data.user_data.3.0` or `user_data[3][0]`. */
function blamedIn({ status, json }: Answer, sent: number): { at: number; reason: string }[] {
  if (status !== 400) return []
  const fields = listIn(objectIn(objectIn(json).error).fields).map((field) => textIn(objectIn(field).field) ?? '')
  const places = fields.map((field) => /\buser_data(?:\.|\[)(\d{1,5})\b/.exec(field)?.[1])
  // An error that names no row could concern all of them.
  if (places.some((place) => place === undefined)) return []
  const reason = 'Reddit does not accept the identifiers of the row (status 400).'
  return [...new Set(places.map(Number))].filter((at) => at < sent).map((at) => ({ at, reason }))
}

/** Audiences of Reddit, made of hashed identifiers. */
export const redditAudiences = audienceDestination({
  slug: 'reddit-audiences',
  name: 'Reddit Audiences',
  platform: redditAds,
  dataType: 'audiences',
  description: 'Creates audiences at Reddit from hashed identifiers and keeps their members up to date.',
  actions: ['create', 'add', 'remove'],
  notes:
    'One audience may contain both kinds of identifier. Rows without an audience share one that is created for the connection. An audience can be used when Reddit has matched 1,000 people. The app needs the scopes adsread and adsedit, and a permanent refresh token. Reddit accepts or refuses a request as a whole, and does not report what it matched. If it refuses a row, Penstock finds and reports it. Send only people who have agreed to it: Reddit does not accept information on consent.',
  tested: 'Our own test server, which follows the published documentation of Reddit’s Ads API v3; not Reddit itself.',
  api: { version: 'v3', ends: 'No end is known.' },
  platformApi: restApi({
    ...redditApi,
    errors: {
      statuses: {
        ...redditApi.errors?.statuses,
        401: ['expired_credentials', 'Sign in at Reddit again and save the new refresh token.'],
        403: [
          'permission_denied',
          'Grant the app the scopes adsread and adsedit, and its user a role on the ad account.',
        ],
        404: ['object_not_found', 'Check the ID of the ad account or the audience.'],
      },
      special: isUnreadableJson,
    },
  }),
  auth: { open: async (context) => (await import('./tokens.ts')).openTokensOf(context) },
  secrets: {
    clientId: text({
      keepsState: 'credential',
      label: 'Client ID',
      description: 'ID of your OAuth app at Reddit',
      required: true,
    }),
    clientSecret: secret({
      label: 'Client secret',
      description: 'Secret that belongs to the client ID',
      required: true,
    }),
    refreshToken: secret({
      label: 'Refresh token',
      description: 'Refresh token for access to Reddit',
      required: true,
    }),
  },
  authorization,
  account: 'advertiserId',
  settings: {
    advertiserId: idSetting({
      label: 'Ad account ID',
      description: 'ID of the Reddit ad account that owns the audiences',
      required: true,
      pattern: /^[A-Za-z0-9_]{1,64}$/,
      example: 'a2_abc',
    }),
  },
  listed: {
    advertiserId: {
      kind: 'account',
      read: async (client, cursor) => (await import('./read-accounts.ts')).readAccounts(client, cursor),
    },
  },
  batch: { rowsMax: 2500, bytesMax: 2_000_000 },
  // SHA-256 of the advertising ID that devices give whose owner does not want to be tracked: all of it zeros.
  noOnes: ['12b9377cbe7e5c94e8a70d9d23929523d14afa954793130f8a3959c7b849aca8'],
  // Reddit does not notice a row that has other identifiers than the request says.
  sharing: 'same keys',
  columns: {
    ...segmentColumns,
    email_sha256: digest(
      'EMAIL_SHA256',
      'Hashed e-mail address; before hashing, write it in lower case and remove everything from a plus sign on, and then all but letters and digits, from the part before the @',
      'email-alphanumeric',
    ),
    maid_sha256: digest(
      'MAID_SHA256',
      'Hashed advertising ID of a mobile device of either kind, hashed as it is written: before, an IDFA must be in upper case and an Android ID in lower case',
      // The ID does not show its kind, so neither kind is normalised.
      'text',
    ),
    idfa_sha256: digest(
      'MAID_SHA256',
      'Hashed advertising ID of an iOS device, in upper case before hashing; used if maid_sha256 is empty',
      'device-id-upper',
      { synonyms: ['idfa'] },
    ),
    aaid_sha256: digest(
      'MAID_SHA256',
      'Hashed advertising ID of an Android device, in lower case before hashing; used if there is neither of the others',
      'device-id',
      { synonyms: ['aaid', 'gaid'] },
    ),
  },
  lists: {
    id: /^[A-Za-z0-9][\w.-]{0,99}$/,
    nameMax: 500,
    page: (to, cursor) => ({ path: cursor ?? lists(to) }),
    found: ({ json }) =>
      listIn(objectIn(json).data)
        .map(objectIn)
        .filter(({ type = 'CUSTOMER_LIST' }) => type === 'CUSTOMER_LIST')
        .map(({ id, name }) => ({ id, name })),
    next: nextPath,
    make: (to, name) => ({ path: lists(to), body: { data: { name, type: 'CUSTOMER_LIST' } } }),
    made: ({ json }) => objectIn(objectIn(json).data).id,
    get: (_, id) => ({ path: `/custom_audiences/${id}` }),
    measure: {
      read({ json }) {
        const { size_range_lower: low, size_range_upper: high, status } = objectIn(objectIn(json).data)
        return { low, high, status }
      },
    },
  },
  request: (people, { audience, verb, keys }) => ({
    method: 'PATCH',
    path: `/custom_audiences/${audience}/users`,
    body: {
      data: {
        action_type: verb === 'add' ? 'ADD' : 'REMOVE',
        column_order: keys,
        user_data: people.map((person) => keys.map((key) => person[key])),
      },
    },
  }),
  answer: { blames: (answer, people) => blamedIn(answer, people.length) },
  check: {
    authentication: { path: '/me' },
    credentials: 'the app and the refresh token',
    account: ({ account }) => ({ path: `/ad_accounts/${account}` }),
  },
})
