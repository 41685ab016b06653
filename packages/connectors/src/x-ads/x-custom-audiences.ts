import { createHash } from 'node:crypto'
import { secret, text } from '@penstock/connector'
import { idSetting, restApi } from '../kit/api.ts'
import { audienceDestination, segmentColumns } from '../kit/audience-destination.ts'
import { digest, plain, special } from '../kit/columns.ts'
import type { Answer } from '../platform-api/call.ts'
import { isObject, type JsonObject, listIn, numberIn, objectIn, textIn } from '../platform-api/json.ts'
import { type BatchRow, isSha256 } from '../platform-api/rows/batch-rows.ts'
import { type Read, wrong } from '../platform-api/rows/events.ts'
import { percentEncode } from './oauth1.ts'
import { xAds } from './platform.ts'

/** X's Ads API. */
const api = restApi({
  name: 'X',
  baseUrl: 'https://ads-api.x.com/12',
  errors: {
    codeAt: 'errors.code',
    codes: { ACCOUNT_NOT_FOUND: ['object_not_found', 'Check the Account ID.'] },
    statuses: {
      400: 'request_refused',
      401: [
        'invalid_credentials',
        'Create new keys and a new access token in the developer portal and save all four in the connector.',
      ],
      403: [
        'permission_denied',
        'The app needs access to the Ads API and to custom audiences, and its user a role in the ad account.',
      ],
      404: ['object_not_found', 'Check the IDs of the ad account and the audience.'],
      410: ['version_retired', 'It was version 12 of the Ads API; update this service.'],
      423: 'conflict',
    },
  },
})

const lists = ({ account }: { account: string }) => `/accounts/${account}/custom_audiences`
const found = ({ json }: Answer) =>
  listIn(objectIn(json).data)
    .map(objectIn)
    .filter(({ deleted }) => deleted !== true)
    .map(({ id, name, created_at: created }) => ({ id, name, created }))
const nextCursor = ({ json }: Answer): unknown => objectIn(json).next_cursor

/** The forms of identifiers that X hashes. X accepts a digest of anything, and never reports who was matched. */
const hashed = {
  handle: {
    pattern: /^(?:@?[a-z0-9_]{1,15}|[0-9a-f]{64})$/i,
    wanted: 'A handle at X has 1 to 15 letters, digits and underscores: @penstock.',
  },
  twitter_id: {
    pattern: /^(?:[1-9]\d{0,18}|[0-9a-f]{64})$/i,
    wanted: 'The ID of a user at X is a whole number, such as 783214.',
  },
  device_id: {
    pattern: /^(?:[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}|[0-9a-f]{16}|[0-9a-f]{64})$/i,
    wanted: 'An advertising ID looks like 6d92078a-8246-4ba4-ae5b-76104861e7dc.',
  },
}

/** IDs of users have 63 bits. */
const userIdMax = 2n ** 63n - 1n

/** The digest of an identifier in lower case, or of a handle without its @. A digest does not change. */
function digestOf(identifier: string): string {
  const bare = identifier.toLowerCase().replace(/^@/, '')
  return isSha256(bare) ? bare : createHash('sha256').update(bare).digest('hex')
}

function timeOf(written: string): string | undefined {
  if (!/^\d{4}-\d{2}-\d{2}[T ]\d{2}:\d{2}(:\d{2}(\.\d+)?)?(Z|[+-]\d{2}:?\d{2})$/i.test(written)) return undefined
  const time = new Date(written.replace(' ', 'T'))
  return Number.isNaN(time.getTime()) ? undefined : time.toISOString().replace(/\.\d{3}Z$/, 'Z')
}

/** Hashes identifiers, and reads the times between which the person belongs to the audience. They can be in the future. */
function finish(user: JsonObject, row: BatchRow): Read<JsonObject> {
  const member: Record<string, unknown> = { ...user }
  const [userId = ''] = listIn(user.twitter_id).map(String)
  if (!isSha256(userId.toLowerCase()) && BigInt(userId) > userIdMax)
    return wrong(hashed.twitter_id.wanted, 'twitter_id')
  for (const column of Object.keys(hashed)) {
    if (user[column] !== undefined) member[column] = listIn(user[column]).map((one) => digestOf(String(one)))
  }
  for (const column of ['effective_at', 'expires_at']) {
    const written = row.text(column)
    if (written === undefined) continue
    member[column] = timeOf(written)
    if (member[column] === undefined) {
      return wrong('The time must be written as 2026-01-31T12:00:00Z with its zone.', column)
    }
  }
  return { read: member }
}

/** The places that a refusal names: a list with an entry for each operation, empty if there is nothing wrong with it. */
function blamedIn({ status, json }: Answer, sent: number): { at: number; reason: string }[] {
  const entries = listIn(objectIn(json).operation_errors)
  if (status !== 400 || entries.length !== sent) return []
  return entries.flatMap((entry, at) => {
    const error = [entry].flat().find((one) => Object.keys(objectIn(one)).length > 0)
    const code = textIn(objectIn(error).code) ?? ''
    const shown = /^[A-Z_]{1,60}$/.test(code) ? code : 'INVALID'
    const reason = `X did not accept the person (${shown}); check the identifiers and the times.`
    return error === undefined ? [] : [{ at, reason }]
  })
}

/** Audience lists for X. */
export const xCustomAudiences = audienceDestination({
  slug: 'x-custom-audiences',
  name: 'X Custom Audiences',
  platform: xAds,
  dataType: 'Custom Audiences',
  description: 'Delivers lists of people to X (Twitter), to target ads at them.',
  notes:
    'The Ads API of X uses OAuth 1.0a: enter the API key as the client ID, its secret as the client secret, the access token as the refresh token, and the access token secret. They are valid until they are revoked. X must have approved the app for its Ads API, and the user needs a role in the ad account. Rows without an audience share one that is created for the connection. X accepts or refuses a request as a whole: the rows that it reports are left out, and the others are sent again. X processes changes within 6 to 8 hours, and an audience can be targeted when 100 active users have been matched; X does not report who was matched. People stay for 13 months unless expires_at says otherwise. Handles are hashed in lower case and without @. Send only people who have agreed to it: X does not accept information on consent.',
  tested:
    'Our own test server, which follows the published documentation of X’s Ads API, signatures included; not X itself.',
  api: { version: 'Ads API v12', ends: 'No end is known.' },
  platformApi: api,
  auth: { open: async (context) => (await import('./oauth1.ts')).openSignatures(context) },
  secrets: {
    clientId: text({
      keepsState: 'credential',
      label: 'Client ID',
      description: 'API key (consumer key) of your app at X',
      required: true,
    }),
    clientSecret: secret({
      label: 'Client secret',
      description: 'API key secret (consumer secret) that belongs to it',
      required: true,
    }),
    refreshToken: secret({
      label: 'Refresh token',
      description: 'Access token of the user at X, which does not expire and is used instead of a refresh token',
      required: true,
    }),
    accessTokenSecret: secret({
      label: 'Access token secret',
      description: 'Secret that belongs to the access token; needed to move data',
    }),
  },
  account: 'accountId',
  own: { id: 'audienceId', name: 'audienceName' },
  settings: {
    accountId: idSetting({
      label: 'Account ID',
      description: 'ID of the ad account at X that owns the audiences',
      pattern: /^[a-z0-9]{1,32}$/i,
      example: '18ce54d4x5t',
      needed: true,
    }),
    audienceName: text({
      asked: true,
      label: 'Audience name',
      description: 'Name of the audience for rows without one; it is created if it does not exist',
    }),
    audienceId: idSetting({
      label: 'Audience ID',
      description: 'ID of an existing audience, for rows without one',
      pattern: /^[a-z0-9]{1,32}$/i,
      example: 'eq7',
    }),
  },
  listed: {
    accountId: {
      kind: 'account',
      page: (cursor) => ({ path: '/accounts', query: { count: '200', cursor } }),
      found,
      next: nextCursor,
    },
  },
  batch: { rowsMax: 2_500, bytesMax: 2_000_000 },
  columns: {
    ...segmentColumns,
    email: digest('email[]', 'E-mail address; it is hashed before it is sent', 'email'),
    phone_number: digest(
      'phone_number[]',
      'Phone number with its country code; it is hashed before it is sent',
      'phone-e164',
    ),
    handle: plain('handle[]', 'Name of the user at X, with or without @; it is hashed before it is sent', {
      ...hashed.handle,
      identifies: true,
      synonyms: ['twitter_handle', 'x_handle', 'username'],
    }),
    device_id: plain('device_id[]', 'Advertising ID of a mobile device; it is hashed before it is sent', {
      ...hashed.device_id,
      normalise: 'device-id',
      identifies: true,
      synonyms: ['maid', 'idfa', 'gaid'],
    }),
    twitter_id: plain('twitter_id[]', 'ID of the user at X; it is hashed before it is sent', {
      ...hashed.twitter_id,
      identifies: true,
      synonyms: ['x_id', 'x_user_id', 'twitter_user_id'],
    }),
    partner_user_id: plain('partner_user_id[]', 'Your own ID of the person that X has matched, not hashed', {
      identifies: true,
    }),
    effective_at: special('When the person joins the audience, in ISO 8601 form'),
    expires_at: special('When the person leaves the audience, in ISO 8601 form'),
  },
  identity: ({ effective_at, expires_at, ...user }) => user,
  finish,
  lists: {
    id: /^[a-z0-9]{1,32}$/i,
    nameMax: 255,
    page: (to, cursor) => ({ path: lists(to), query: { count: '200', cursor } }),
    found,
    next: nextCursor,
    make: (to, name) => ({ path: `${lists(to)}?name=${percentEncode(name)}` }),
    made: ({ json }) => objectIn(objectIn(json).data).id,
    get: (to, id) => ({ path: `${lists(to)}/${id}` }),
    isThere: ({ json }) => objectIn(objectIn(json).data).deleted !== true,
    measure: {
      read({ json }) {
        const { audience_size: size, targetable, reasons_not_targetable: reasons } = objectIn(objectIn(json).data)
        return { size, status: targetable === true ? 'TARGETABLE' : listIn(reasons).join(', ') }
      },
    },
  },
  // Each person is a separate operation, so that X can name the row.
  request: (people, { account, audience, verb }) => ({
    path: `${lists({ account })}/${audience}/users`,
    body: people.map(({ effective_at, expires_at, ...user }) => ({
      operation_type: verb === 'add' ? 'Update' : 'Delete',
      params: { effective_at, expires_at, users: [user] },
    })),
  }),
  answer: {
    blames: (answer, people) => blamedIn(answer, people.length),
    means: ({ status, json }, people) => {
      if (status === 400) return 'invalid_batch'
      if (status >= 300) return undefined
      if (!isObject(json)) return 'malformed_response'
      const { success_count: taken, total_count: total } = objectIn(json.data)
      return numberIn(taken) === people && numberIn(total) === people ? undefined : 'platform_error'
    },
  },
  check: {
    authentication: { path: '/accounts', query: { count: '1' } },
    credentials: 'the keys and the access token',
    account: ({ account }) => ({ path: `/accounts/${account}` }),
  },
})
