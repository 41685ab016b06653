import { type ConnectorContext, ConnectorError, type ConnectorErrorCode } from '@penstock/connector'
import type { Answer } from '../platform-api/call.ts'
import { openPlatform, type PlatformClient } from '../platform-api/client.ts'
import { enteredToken } from '../platform-api/entered-token.ts'
import { listIn, numberIn, objectIn, textIn } from '../platform-api/json.ts'
import { type AccessTokens, openTokens } from '../platform-api/oauth.ts'

export const microsoftOrigin = 'https://campaign.api.bingads.microsoft.com'

/** Microsoft Advertising's Campaign Management API, signed in for an ad account. */
export type Microsoft = PlatformClient & {
  readonly tokens: AccessTokens
  /** The ad account whose lists and goals are meant; stored in the state of a connection. */
  readonly account: string
}

/** Opens the API. Throws `invalid_setting` where the connection names no ad account, or the connector no developer token. */
export function openMicrosoft(context: ConnectorContext): Microsoft {
  const { settings, secrets } = context
  const customerId = digitsOf(settings.customerId, 'Customer ID')
  const account = digitsOf(settings.accountId, 'Account ID')
  const tokens = openMicrosoftTokens(context)
  const entered = secrets.authType === 'api-token' ? textIn(secrets.accessToken) : undefined
  const client = openPlatform(context, {
    name: 'Microsoft Advertising',
    baseUrl: `${microsoftOrigin}/CampaignManagement/v13`,
    headers: { developertoken: developerTokenOf(context), customerid: customerId, customeraccountid: account },
    credentials: entered === undefined ? tokens : enteredToken(entered, tokens),
    errorOf,
  })
  return { ...client, tokens, account }
}

export function openMicrosoftTokens(context: ConnectorContext): AccessTokens {
  const { clientId, clientSecret } = context.secrets
  return openTokens(context, {
    platform: 'Microsoft',
    renewal: 'authorize the connector again, or sign in to Microsoft again and save what it gives in the connector',
    url: 'https://login.microsoftonline.com/common/oauth2/v2.0/token',
    // Each answer has a new refresh token, for which the old one is to be discarded.
    grant: { type: 'refresh_token', rotates: true },
    client: { id: String(clientId ?? ''), secret: String(clientSecret ?? '') },
    // What Microsoft says it granted does not list all of it.
    parameters: { scope: 'https://ads.microsoft.com/msads.manage offline_access' },
  })
}

function developerTokenOf({ secrets }: ConnectorContext): string {
  const token = textIn(secrets.developerToken) ?? textIn(secrets.appDeveloperToken)
  if (token !== undefined) return token
  const message = 'Microsoft Advertising requires a developer token with each request; enter it in the connector.'
  throw new ConnectorError('invalid_setting', message)
}

/** People copy numbers with spaces around them. */
function digitsOf(value: unknown, label: string): string {
  const digits = String(value ?? '').trim()
  if (/^\d{1,20}$/.test(digits)) return digits
  throw new ConnectorError('invalid_setting', `${label} must be a number of Microsoft Advertising, digits alone.`)
}

type Meaning = readonly [code: ConnectorErrorCode, message: string, afterMs?: number]

const limited: Meaning = ['rate_limited', 'Microsoft Advertising limits how often it may be called', 60_000]
const credentials: Meaning = [
  'expired_credentials',
  'Microsoft Advertising does not accept the access token or the developer token; sign in again and check both in the connector',
]

/** What codes of Microsoft mean that concern neither one row nor another. */
const byCode = new Map<number, Meaning>([
  [0, ['platform_error', 'Microsoft Advertising has an internal error']],
  [105, credentials],
  [109, credentials],
  [
    106,
    [
      'permission_denied',
      'Microsoft Advertising denies access; give the user a role on the customer and the ad account',
    ],
  ],
  [117, limited],
  [207, limited],
  [5612, ['platform_error', 'Microsoft Advertising could not store the conversions']],
  [5613, ['account_restricted', 'Microsoft has not enabled offline conversions for the customer; ask it to']],
  [8000, ['object_not_found', 'Microsoft Advertising does not know a customer list that is named; check its ID']],
  [
    8003,
    [
      'terms_not_accepted',
      'The terms of Customer Match are not accepted; make one customer list by hand in Microsoft Advertising, which accepts them',
    ],
  ],
])

/** What one error in an answer says: of an item of the request, or of the request as a whole. */
export type MicrosoftError = {
  /** The place of the item in the request; absent where the error is of no item. */
  readonly index: number | undefined
  readonly code: number | undefined
  /** The code and its name, to be shown. */
  readonly shown: string
}

function readError(value: unknown): MicrosoftError {
  const { Index, Code, ErrorCode } = objectIn(value)
  const index = numberIn(Index)
  const code = numberIn(Code)
  const name = textIn(ErrorCode)
  const shown = [code === undefined ? undefined : `code ${code}`, name && /^\w{1,100}$/.test(name) ? name : undefined]
  return {
    index: index !== undefined && Number.isInteger(index) && index >= 0 ? index : undefined,
    code,
    shown: shown.filter((part) => part !== undefined).join(', ') || 'without a code',
  }
}

/**
 * The errors of items in an answer with the status 200. Throws where one of them is of the account, the list or the
 * request: the items that were sent with it are not to blame.
 * @param sent how many items were sent
 */
export function itemErrorsOf(json: unknown, sent: number): MicrosoftError[] {
  const { PartialErrors: partial = null } = objectIn(json)
  if (partial !== null && !Array.isArray(partial)) {
    throw new ConnectorError('malformed_response', 'Microsoft Advertising answered with something other than its JSON.')
  }
  const errors = listIn(partial)
    .filter((error) => error !== null)
    .map(readError)
  for (const error of errors) {
    const known = errorOfCode(error)
    if (known) throw known
    if (error.index === undefined || error.index >= sent) {
      throw new ConnectorError('invalid_batch', `Microsoft Advertising refuses a part of the batch (${error.shown}).`)
    }
  }
  return errors
}

function errorOfCode({ code, shown }: MicrosoftError): ConnectorError | undefined {
  const meaning = code === undefined ? undefined : byCode.get(code)
  if (!meaning) return undefined
  const [name, message, afterMs] = meaning
  return new ConnectorError(name, `${message} (${shown}).`, { afterMs })
}

/** What a fault means, whatever its status: an expired token comes with 500, too. Its words are left out. */
function errorOf({ status, json }: Answer): ConnectorError | undefined {
  const { Errors, OperationErrors, BatchErrors } = objectIn(json)
  const errors = [Errors, OperationErrors, BatchErrors].flatMap(listIn).map(readError)
  if (errors.length === 0) return undefined
  for (const error of errors) {
    const known = errorOfCode(error)
    if (known) return known
  }
  if (status === 401 || status === 403 || status === 429 || status >= 500) return undefined
  return new ConnectorError('request_refused', `Microsoft Advertising refused the request (${errors[0]?.shown}).`)
}
