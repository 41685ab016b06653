import { type ConnectorContext, ConnectorError } from '@penstock/connector'
import { googleTokens } from '../google-ads/access.ts'
import type { Answer } from '../platform-api/call.ts'
import { openPlatform, type PlatformClient } from '../platform-api/client.ts'
import { type JsonObject, listIn, objectIn, textIn } from '../platform-api/json.ts'
import type { AccessTokens } from '../platform-api/oauth.ts'
import { waitMsOf } from '../platform-api/rate-limit.ts'
import { connectorErrorOfStatus } from '../platform-api/status.ts'

export const campaignManagerOrigin = 'https://dfareporting.googleapis.com'
const scope = 'https://www.googleapis.com/auth/ddmconversions'
const name = 'Campaign Manager 360'

/** The Campaign Manager 360 API, signed in. Everything throws connector errors. */
export type CampaignManager = {
  readonly tokens: AccessTokens
  readonly ask: PlatformClient['askObject']
  /** The user profile under which conversions are sent: that of the settings, or the user's only one. */
  profileId(): Promise<string>
}

export function openCampaignManager(context: ConnectorContext): CampaignManager {
  const tokens = googleTokens(context, scope)
  const { askObject: ask } = openPlatform(context, {
    name,
    baseUrl: `${campaignManagerOrigin}/dfareporting/v5`,
    credentials: tokens,
    errorOf: (answer) => (answer.status >= 200 && answer.status < 300 ? undefined : connectorErrorOf(answer)),
  })
  const setting = context.settings.profileId
  const profileId = async () =>
    setting === undefined ? onlyProfile((await ask({ path: '/userprofiles' })).json) : profileOf(setting)
  return { tokens, ask, profileId }
}

function profileOf(setting: unknown): string {
  const id = String(setting).trim()
  if (/^\d+$/.test(id)) return id
  throw new ConnectorError('invalid_setting', 'User profile ID must be the number of a user profile.')
}

/** The user's only profile, of the list of them. Throws where there is none, or several. */
export function onlyProfile(json: JsonObject): string {
  const ids = listIn(json.items).flatMap((item) => textIn(objectIn(item).profileId) ?? [])
  const [only] = ids
  if (only !== undefined && ids.length === 1 && /^\d+$/.test(only)) return only
  throw ids.length === 0
    ? new ConnectorError('permission_denied', `The user has no user profile in ${name}; have one created there.`)
    : new ConnectorError(
        'invalid_setting',
        `The user has ${ids.length} user profiles in ${name}; fill in “User profile ID” to say which one sends conversions.`,
      )
}

const limits = [
  'rateLimitExceeded',
  'userRateLimitExceeded',
  'quotaExceeded',
  'dailyLimitExceeded',
  'RATE_LIMIT_EXCEEDED',
]
const lacksScope = ['insufficientPermissions', 'ACCESS_TOKEN_SCOPE_INSUFFICIENT']
const isDisabled = ['accessNotConfigured', 'SERVICE_DISABLED']

/** What an answer that is not a success asks for. Google's own message is left out: it may quote what was sent. */
function connectorErrorOf(answer: Answer): ConnectorError {
  const { status, headers } = answer
  const error = objectIn(objectIn(answer.json).error)
  const reasons = [...listIn(error.errors), ...listIn(error.details)]
    .map((one) => String(objectIn(one).reason))
    .filter((reason) => /^[A-Za-z_]{1,60}$/.test(reason))
  const has = (known: readonly string[]) => reasons.some((reason) => known.includes(reason))
  if (status === 403 && /^3140\b|no longer supported/.test(String(error.message))) {
    const message = `${name} has retired version 5 of its API; ask your operator to update this service.`
    return new ConnectorError('version_retired', message)
  }
  if (status === 429 || has(limits)) {
    return new ConnectorError('rate_limited', `${name} limits how often it may be called.`, {
      afterMs: waitMsOf({ headers }),
    })
  }
  if (has(lacksScope)) {
    const message = `The refresh token was not granted the scope ${scope}; sign in at Google again and grant it.`
    return new ConnectorError('permission_denied', message)
  }
  if (has(isDisabled)) {
    const message = `The ${name} API is not enabled in the Google Cloud project of the OAuth client; enable it there.`
    return new ConnectorError('permission_denied', message)
  }
  if (status === 403) {
    const message = `${name} denies access; the user profile must be allowed to insert and to edit offline conversions.`
    return new ConnectorError('permission_denied', message)
  }
  if (status === 404) {
    const message = `${name} does not know the user profile; check “User profile ID”.`
    return new ConnectorError('object_not_found', message)
  }
  if (status === 400) {
    const reason = reasons[0] === undefined ? '' : ` (${reasons[0]})`
    return new ConnectorError('invalid_batch', `${name} refuses the request because of its content${reason}.`)
  }
  return connectorErrorOfStatus(name, answer)
}
