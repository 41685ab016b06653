import { number } from '@penstock/connector'
import { type ErrorFact, idSetting, restApi } from '../kit/api.ts'
import { audienceDestination, segmentColumns } from '../kit/audience-destination.ts'
import { digest } from '../kit/columns.ts'
import type { Answer } from '../platform-api/call.ts'
import { isObject, type JsonObject, listIn, numberIn, objectIn, textIn } from '../platform-api/json.ts'
import { nextCursor, nextQuery, snapchatTransient, snapchatUrl } from './api.ts'
import { authorization } from './authorization.ts'
import { snapchatAds } from './platform.ts'
import { signIn } from './sign-in.ts'

// Snapchat writes a status in either case.
const isSuccess = (status: unknown): boolean => textIn(status)?.toUpperCase() === 'SUCCESS'
const isError = (status: unknown): boolean => ['ERROR', 'FAILED', 'FAILURE'].includes(String(status).toUpperCase())

const isDenied: ErrorFact = [
  'permission_denied',
  'Check the Ad account ID, and that the member who consented has a role on the ad account and may manage audiences.',
]

/** Snapchat's Marketing API. It says in the body whether it did what was asked. */
const api = restApi({
  name: 'Snapchat',
  baseUrl: snapchatUrl,
  errors: {
    codeAt: 'error_code',
    codes: { ...snapchatTransient, E3002: isDenied },
    statuses: {
      400: 'request_refused',
      401: ['invalid_credentials', 'Grant access again at Snapchat and save the new refresh token in the connector.'],
      403: isDenied,
      404: ['object_not_found', 'Check the Ad account ID and the IDs of the audiences.'],
    },
    special: ({ status, json }) => {
      if (status !== 200 || !isObject(json) || isSuccess(json.request_status)) return undefined
      return isError(json.request_status) ? 'request_refused' : 'malformed_response'
    },
  },
})

const lists = ({ account }: { account: string }) => `/adaccounts/${account}/segments`

/** The parts of an answer, each with its own status. */
const partsIn = ({ json }: Answer, kind: string): JsonObject[] => listIn(objectIn(json)[kind]).map(objectIn)

/** The meaning of an answer to identifiers, which are taken or refused as a whole. */
function meaningOf(answer: Answer): ErrorFact | undefined {
  const { status, json } = answer
  if (status !== 200 && status !== 400) return undefined
  const [users = {}] = partsIn(answer, 'users')
  const statuses = [objectIn(json).request_status, users.sub_request_status]
  if (isObject(json) && (status === 400 || statuses.some(isError))) {
    return ['invalid_batch', 'Check how the identifiers were hashed.']
  }
  return status === 400 || statuses.every(isSuccess) ? undefined : 'malformed_response'
}

/** Audiences of Snapchat, made of hashed identifiers. */
export const snapchatCustomerLists = audienceDestination({
  slug: 'snapchat-customer-lists',
  name: 'Snapchat Customer Lists',
  platform: snapchatAds,
  dataType: 'audiences',
  description: 'Creates list audiences at Snapchat from hashed identifiers and keeps their members up to date.',
  actions: ['create', 'add', 'remove'],
  notes:
    'A row may have identifiers of several kinds. They are sent in separate requests, and the row counts as accepted if Snapchat accepts one of them. An audience is found by its name, or created by rows with the action add; rows without an audience share one that is created for the connection. A new audience accepts members after a few seconds, for which the transfer waits. Snapchat matches people later, and an audience can be used from 1,000 matched people. The member of the organization who granted access needs a role on the ad account that may manage audiences. You need the consent of the people, and the ad account must have accepted Snapchat’s terms for customer lists.',
  tested:
    'Our own test server, which follows the published documentation of Snapchat’s Marketing API; not Snapchat itself.',
  api: { version: 'Marketing API v1', ends: 'no end is announced' },
  platformApi: api,
  auth: { open: async (context) => (await import('./tokens.ts')).openSnapchatTokens(context) },
  secrets: signIn,
  authorization,
  account: 'advertiserId',
  settings: {
    advertiserId: idSetting({
      label: 'Ad account ID',
      description: 'ID of the Snapchat ad account that owns the audiences',
      required: true,
      pattern: /^[\w-]{1,64}$/,
      example: '8adc3db7-8148-4fbf-999c-8d2266369d74',
    }),
    lifespanDays: number({
      label: 'Lifespan (days)',
      description: 'How many days a person stays in the audience',
      min: 1,
    }),
  },
  listed: {
    advertiserId: {
      kind: 'account',
      page: (cursor) => ({ path: '/me/organizations', query: { with_ad_accounts: 'true', cursor } }),
      found: (answer) =>
        partsIn(answer, 'organizations')
          .flatMap(({ organization }) => listIn(objectIn(organization).ad_accounts).map(objectIn))
          .map(({ id, name }) => ({ id, name })),
      next: nextCursor,
    },
  },
  batch: { rowsMax: 100_000, bytesMax: 16_000_000 },
  sharing: 'one key',
  columns: {
    ...segmentColumns,
    email_sha256: digest('EMAIL_SHA256', 'Hashed e-mail address', 'email'),
    phone_sha256: digest('PHONE_SHA256', 'Hashed phone number, with its country code', 'phone-digits'),
    maid_sha256: digest('MOBILE_AD_ID_SHA256', 'Hashed advertising ID of a mobile device (IDFA or GAID)', 'device-id'),
  },
  lists: {
    id: /^[\w-]{1,64}$/,
    nameMax: 375,
    page: (to, query = '') => ({ path: lists(to) + query }),
    found: (answer) =>
      partsIn(answer, 'segments')
        .map(({ segment }) => objectIn(segment))
        .filter(({ source_type: source }) => source === 'FIRST_PARTY')
        .map(({ id, name, created_at: created }) => ({ id, name, created })),
    next: nextQuery,
    make: (to, name) => ({
      path: lists(to),
      body: {
        segments: [
          {
            name,
            description: 'Kept by Penstock',
            source_type: 'FIRST_PARTY',
            // The largest number means no end.
            retention_in_days: numberIn(to.settings.lifespanDays) ?? 9999,
            ad_account_id: to.account,
          },
        ],
      },
    }),
    made: (answer) => {
      const [made = {}] = partsIn(answer, 'segments')
      return isSuccess(made.sub_request_status) ? objectIn(made.segment).id : undefined
    },
    get: (_, id) => ({ path: `/segments/${id}` }),
    isThere: (answer, id) =>
      partsIn(answer, 'segments').some(
        ({ segment, sub_request_status: status }) => isSuccess(status) && textIn(objectIn(segment).id) === id,
      ),
    appearsLater: true,
    measure: {
      read(answer, id) {
        const segments = partsIn(answer, 'segments').map(({ segment }) => objectIn(segment))
        const segment = segments.find((one) => textIn(one.id) === id)
        return { size: segment?.approximate_number_users, status: segment?.targetable_status ?? segment?.upload_status }
      },
    },
  },
  request: (people, { audience, verb, keys: [schema = ''] }) => ({
    path: `/segments/${audience}/users`,
    // Snapchat accepts a body with DELETE.
    method: verb === 'add' ? 'POST' : 'DELETE',
    body: { users: [{ schema: [schema], data: people.map((person) => [person[schema]]) }] },
  }),
  answer: {
    means: meaningOf,
    taken: (answer, { verb }) => {
      const counted = objectIn(partsIn(answer, 'users')[0]?.user).number_uploaded_users
      return verb === 'add' && typeof counted === 'number' && counted >= 0 ? counted : undefined
    },
  },
  check: {
    authentication: { path: '/me' },
    credentials: 'the refresh token',
    account: ({ account }) => ({ path: `/adaccounts/${account}` }),
    means: (answer, { account }) => {
      const isSeen = partsIn(answer, 'adaccounts').some(({ adaccount }) => objectIn(adaccount).id === account)
      return answer.status === 200 && !isSeen ? ['object_not_found', 'Check the Ad account ID.'] : undefined
    },
  },
})
