import { ConnectorError, type ConnectorErrorCode, retryAfterMs } from '@penstock/connector'
import { actionOf } from '@penstock/wire/rules'
import type { Answer } from '../platform-api/call.ts'
import { listIn, numberIn, objectIn, parseJson } from '../platform-api/json.ts'
import { connectorErrorOfStatus } from '../platform-api/status.ts'

type Meaning = readonly [code: ConnectorErrorCode, message: string, afterMs?: number]

const problem: Meaning = ['platform_error', 'Meta has an internal error']
const limited: Meaning = ['rate_limited', 'Meta limits how often this account may call']
const credentials: Meaning = [
  'invalid_credentials',
  'Meta does not accept the access token any more; create a new one and save it in the connector',
]
const permission: Meaning = [
  'permission_denied',
  'Meta denies access; grant the token ads_management and its user a role on this asset',
]
const missing: Meaning = [
  'object_not_found',
  'Meta does not know the account, audience or dataset, or these credentials may not see it; check its ID',
]
/** Events are taken or refused together, and Meta rarely says which one it was. */
const content: Meaning = ['invalid_batch', 'Meta refuses what was sent because of its content']
/** Meta counts members that it cannot use, and accepts the others. So a refusal of the request is not the error of a row. */
const request: Meaning = [
  'request_refused',
  'Meta refuses the request, whatever rows are in it; check the IDs of the connection and the app secret of the connector',
]
const retired: Meaning = [
  'version_retired',
  'Meta has retired the version of its API that this connector calls; update this service',
]
const tooMuch: Meaning = ['batch_too_large', 'Meta asks for less data in one request']
const flagged: Meaning = ['account_restricted', 'Meta has flagged the audience; appeal against it at Meta first']

/** Meanings of Meta's codes. Subcodes have priority, since they are more specific. */
const bySubcode = new Map<number, Meaning>([
  [33, missing],
  [99, problem],
  [1487301, missing],
  [1487366, ['object_not_found', 'Meta says that the audience was deleted; name another one']],
  ...[1487534, 1504018, 1504038].map((subcode): [number, Meaning] => [subcode, tooMuch]),
  [1504022, limited],
  [1504039, limited],
  [1504043, problem],
  [2490547, problem],
  [1713230, ['account_restricted', 'Meta blocks uploads of this account; look at the account quality page of Meta']],
  [1713231, flagged],
])

/** Errors of an event have a subcode in this range. */
const isOfEvent = (subcode: number): boolean => subcode >= 2_804_000 && subcode < 2_805_000

/** Whether a message names a place among the rows that were sent. */
const namesRow = (message: unknown): boolean => /\bdata'?\]?\[\d+\]/.test(String(message))
/** Blocks for suspected abuse last for hours, and further calls prolong them. */
const blockedMs = 60 * 60 * 1000

const byCode = new Map<number, Meaning>([
  ...[1, 2, 104, 341, 960, 5000, 21009].map((code): [number, Meaning] => [code, problem]),
  ...[4, 17, 32, 613, ...Array.from({ length: 15 }, (_, n) => 80_000 + n)].map((code): [number, Meaning] => [
    code,
    limited,
  ]),
  ...[102, 190, 452].map((code): [number, Meaning] => [code, credentials]),
  ...[3, 10, 200, 270, 294].map((code): [number, Meaning] => [code, permission]),
  [100, request],
  [368, ['rate_limited', 'Meta has blocked this account for a while for what it takes for abuse', blockedMs]],
  [471, flagged],
  [2635, retired],
  [2650, ['request_refused', 'Meta could not update the audience']],
  [2655, ['terms_not_accepted', 'Meta asks that its terms for customer lists be accepted; do so in its ads manager']],
])

/** The meaning of words, if the code has several meanings. */
function byWords(code: number, message: string): Meaning | undefined {
  if (/reduce the amount of data/i.test(message)) return tooMuch
  if (code !== 100) return undefined
  // The figures of an account were not ready.
  if (/in summary param because they weren't there/i.test(message)) return problem
  if (/^(\(#100\) ?)?missing permissions?\b/i.test(message)) return permission
  const [, field] = /\b([a-z][a-z0-9_]{1,80}) is not valid for fields param\b/.exec(message) ?? []
  if (field !== undefined) return ['request_refused', `Meta does not know the field ${field}; choose other metrics`]
  const [, together] = /combination of data breakdown columns \(([a-z0-9_, ]{1,300})\)/.exec(message) ?? []
  if (together === undefined) return undefined
  return ['request_refused', `Meta does not break figures down by ${together} together; choose fewer breakdowns`]
}

const isTransient = (meaning: Meaning | undefined): boolean => meaning !== undefined && actionOf(meaning[0]) === 'retry'

/**
 * The meaning of Meta's answer. `undefined` if it names no error, and the status says everything. Meta's messages are omitted,
 * because they can quote what was sent.
 */
export function metaErrorOf(answer: Answer): ConnectorError | undefined {
  const error = objectIn(objectIn(answer.json).error)
  const code = numberIn(error.code)
  if (code === undefined) return undefined
  const subcode = numberIn(error.error_subcode)
  const meaning =
    byWords(code, String(error.message ?? '')) ??
    (error.is_transient === true ? (isTransient(byCode.get(code)) ? byCode.get(code) : problem) : undefined) ??
    (subcode === undefined ? undefined : (bySubcode.get(subcode) ?? (isOfEvent(subcode) ? content : undefined))) ??
    (code === 100 && namesRow(error.message) ? content : byCode.get(code)) ??
    (code > 200 && code < 300 ? permission : undefined)
  if (!meaning) {
    if (answer.status === 429 || answer.status >= 500) return connectorErrorOfStatus('Meta', answer)
    return new ConnectorError('request_refused', `Meta refused the request with its error ${code}.`)
  }
  const [name, message, afterMs] = meaning
  const numbers = subcode === undefined ? `error ${code}` : `error ${code}, subcode ${subcode}`
  return new ConnectorError(name, `${message} (${numbers}).`, {
    afterMs: isTransient(meaning) ? (afterMs ?? waitMs(answer)) : undefined,
  })
}

/** How long to wait. Meta reports it in minutes, per business and kind of use, in a header. */
function waitMs({ headers }: Answer): number | undefined {
  const usage = parseJson(headers.get('x-business-use-case-usage') ?? '')
  const minutes = Object.values(objectIn(usage))
    .flatMap(listIn)
    .map((use) => numberIn(objectIn(use).estimated_time_to_regain_access) ?? 0)
  const most = Math.max(0, ...minutes)
  return most > 0 ? most * 60_000 : retryAfterMs({ headers })
}
