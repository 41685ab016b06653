import { ConnectorError, type Values } from '@penstock/connector'
import { type Auth, type ErrorFact, restApi } from '../kit/api.ts'
import type { EventTarget, WhyNot } from '../kit/event-facts.ts'
import type { Answer } from '../platform-api/call.ts'
import { isObject, type JsonObject, listIn, objectIn, textIn } from '../platform-api/json.ts'

/** The scope of conversions. */
export const ddmConversions = 'https://www.googleapis.com/auth/ddmconversions'
export const campaignManagerAuth: Auth = {
  open: async (context) => (await import('../google-ads/access.ts')).googleTokens(context, ddmConversions),
}
const name = 'Campaign Manager 360'

/** The Campaign Manager 360 API. */
export const campaignManager = restApi({
  name,
  baseUrl: 'https://dfareporting.googleapis.com/dfareporting/v5',
  errors: {
    statuses: {
      400: 'invalid_batch',
      403: ['permission_denied', 'The user profile must be allowed to insert and to edit offline conversions.'],
      404: ['object_not_found', 'Check “User profile ID”.'],
      429: 'rate_limited',
    },
    special: byReason,
  },
})

const limits = [
  'rateLimitExceeded',
  'userRateLimitExceeded',
  'quotaExceeded',
  'dailyLimitExceeded',
  'RATE_LIMIT_EXCEEDED',
]
const lacksScope = ['insufficientPermissions', 'ACCESS_TOKEN_SCOPE_INSUFFICIENT']
const isDisabled = ['accessNotConfigured', 'SERVICE_DISABLED']

/** The meaning of Google's reasons, which come with several statuses. */
function byReason({ status, json }: Answer): ErrorFact | undefined {
  const error = objectIn(objectIn(json).error)
  if (status < 400) return undefined
  if (status === 403 && /^3140\b|no longer supported/.test(String(error.message))) {
    return ['version_retired', 'It was version 5; ask your operator to update this service.']
  }
  const reasons = [...listIn(error.errors), ...listIn(error.details)].map((one) => String(objectIn(one).reason))
  const has = (known: readonly string[]) => reasons.some((reason) => known.includes(reason))
  if (has(limits)) return 'rate_limited'
  if (has(lacksScope)) return ['permission_denied', `Sign in at Google again and grant the scope ${ddmConversions}.`]
  if (has(isDisabled)) {
    return ['permission_denied', `Enable the ${name} API in the Google Cloud project of the OAuth client.`]
  }
  return undefined
}

/** The user profiles in the list of them. */
export const profilesIn = ({ items }: JsonObject): readonly string[] =>
  listIn(items).flatMap((item) => textIn(objectIn(item).profileId) ?? [])

/** The user profile of the connection, or the user's only one. Throws if the list does not have it, or has several. */
export function profileOf({ profileId }: Values, list: JsonObject): string {
  const profiles = profilesIn(list)
  const [only] = profiles
  if (only === undefined) {
    throw new ConnectorError('permission_denied', `The user has no user profile in ${name}; have one created there.`)
  }
  if (profileId !== undefined) {
    const profile = String(profileId).trim()
    if (profiles.includes(profile)) return profile
    throw new ConnectorError('object_not_found', `The user does not have this user profile; check “User profile ID”.`)
  }
  if (profiles.length === 1 && /^\d+$/.test(only)) return only
  throw new ConnectorError(
    'invalid_setting',
    `The user has ${profiles.length} user profiles in ${name}; fill in “User profile ID” to say which one sends conversions.`,
  )
}

/** The key with which Google encrypted user IDs. Throws `invalid_setting` if the settings do not name it. */
export function encryptionOf({ encryptionEntityType, encryptionEntityId, encryptionSource }: Values): JsonObject {
  const entityId = String(encryptionEntityId ?? '').trim()
  if (encryptionEntityType === undefined || encryptionSource === undefined || !/^\d+$/.test(entityId)) {
    const message =
      'To read encrypted user IDs, Google needs to know who encrypted them; fill in “Encryption entity type”, “Encryption entity ID” (a number) and “Encryption source”.'
    throw new ConnectorError('invalid_setting', message)
  }
  return {
    kind: 'dfareporting#encryptionInfo',
    encryptionEntityType,
    encryptionEntityId: entityId,
    encryptionSource,
  }
}

/**
 * The result of each conversion. Throws if the batch must be sent again, or if the user profile has no access to any of them.
 */
export function resultsOf(
  answer: Answer,
  sent: readonly JsonObject[],
  { target }: EventTarget,
): (WhyNot | undefined)[] | undefined {
  const codes = answer.status < 300 ? codesIn(objectIn(answer.json), sent.length) : undefined
  if (codes === undefined) return undefined
  if (codes.length > 0 && codes.every((code) => code === 'PERMISSION_DENIED')) {
    const message =
      'The user profile may not change conversions of these Floodlight configurations; give it access to them, and the right to insert and edit offline conversions.'
    throw new ConnectorError('permission_denied', message)
  }
  if (target === 'update') assertProcessed(sent.filter((_, place) => codes[place] === 'NOT_FOUND'))
  return codes.map((code) => {
    if (code === undefined) return undefined
    const why = Object.hasOwn(reasons, code) ? `: ${reasons[code]}` : ''
    return { reason: `${name} does not accept this conversion${why} (${code}).`, again: code === 'INTERNAL' }
  })
}

/** The error codes by index. `undefined` if the answer does not report each conversion. */
function codesIn({ status, hasFailures }: JsonObject, sent: number): (string | undefined)[] | undefined {
  const statuses = listIn(status)
  const codes = statuses.map((one) => {
    const [error] = listIn(objectIn(one).errors).map(objectIn)
    return error && (/^[A-Z_]{1,40}$/.test(String(error.code)) ? String(error.code) : 'UNKNOWN')
  })
  const isWhole = statuses.length === sent && statuses.every(isObject)
  const isClear = isWhole
    ? codes.some((code) => code !== undefined) === (hasFailures === true)
    : statuses.length === 0 && hasFailures === false
  return isClear ? codes : undefined
}

/** Google takes up to six hours to process a conversion before it can be changed, and asks for retries during that time. */
const processedHours = 6

/** Throws if some conversions are unknown to Google that it may not have processed yet. */
function assertProcessed(unknown: readonly JsonObject[]): void {
  const processedMs = Date.now() - processedHours * 3_600_000
  const recent = unknown.filter(({ timestampMicros }) => Number(timestampMicros) / 1_000 > processedMs)
  if (recent.length === 0) return
  throw new ConnectorError(
    'platform_unavailable',
    `${name} does not know ${recent.length} of the conversions to change, which happened less than ${processedHours} hours ago: it may not have processed them yet. Send changes 90 minutes after the conversion or later.`,
    { afterMs: 60_000 },
  )
}

const reasons: Readonly<Record<string, string>> = {
  INVALID_ARGUMENT: 'something in it is not valid, such as its identifier, or a time more than 28 days ago',
  NOT_FOUND:
    'the click, the person, the Floodlight activity or the conversion to be corrected was not found, or happened too recently: if the click was less than an hour ago, replay the record after that hour',
  PERMISSION_DENIED: 'the user profile has no access to this Floodlight configuration',
}
