import { ConnectorError, type ConnectorErrorCode } from '@penstock/connector'
import { restApi } from '../kit/api.ts'
import type { Answer } from '../platform-api/call.ts'
import type { PlatformCall } from '../platform-api/client.ts'
import { listIn, numberIn, objectIn, textIn } from '../platform-api/json.ts'

export const microsoftOrigin = 'https://campaign.api.bingads.microsoft.com'
export const customerOrigin = 'https://clientcenter.api.bingads.microsoft.com'

/** Microsoft Advertising's Campaign Management API. */
export const campaignManagement = restApi({
  name: 'Microsoft Advertising',
  baseUrl: `${microsoftOrigin}/CampaignManagement/v13`,
  errors: { special: faultOf },
})

/** A question that every ad account answers. */
export const accountProperties: PlatformCall = {
  method: 'POST',
  path: '/AccountProperties/Query',
  body: { AccountPropertyNames: ['MSCLKIDAutoTaggingEnabled'] },
  repeatable: true,
}

type Meaning = readonly [code: ConnectorErrorCode, message: string, afterMs?: number]

const limited: Meaning = ['rate_limited', 'Microsoft Advertising limits how often it may be called', 60_000]
const credentials: Meaning = [
  'expired_credentials',
  'Microsoft Advertising does not accept the access token or the developer token; sign in again and check both in the connector',
]

/** Meanings of Microsoft's codes that are not about a single row. */
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
      'The terms of Customer Match are not accepted; turn on “Accept Customer Match Terms” in the connection, or create one customer list by hand in Microsoft Advertising',
    ],
  ],
])

/** The content of one error in an answer: about an item of the request, or about the request as a whole. */
export type MicrosoftError = {
  /** The index of the item in the request. Absent if the error is not about an item. */
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
 * The errors of items in an answer with the status 200. Throws if one of them is of the account, the list or the
 * request: the items that were sent with it are not to blame.
 * @param sent how many items were sent
 */
export function itemErrorsOf(json: unknown, sent: number): MicrosoftError[] {
  const { PartialErrors: partial = null } = objectIn(json)
  if (partial !== null && !Array.isArray(partial)) {
    throw new ConnectorError('malformed_response', 'Microsoft Advertising did not answer with the expected JSON.')
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

/** The meaning of a fault, whatever its status: an expired token can also be a 500. Microsoft's messages are omitted. */
export function faultOf({ status, json }: Answer): ConnectorError | undefined {
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
