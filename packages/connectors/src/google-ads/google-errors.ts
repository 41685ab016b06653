import { Outcome, retryAfterMs } from '@penstock/connector'
import type { Answer } from '../platform-api/call.ts'
import { isObject, listIn, objectIn, textIn } from '../platform-api/json.ts'
import { outcomeOfStatus, waitOf } from '../platform-api/status.ts'

/** One thing that Google found wrong: where, and a reason in its own words. */
export type Violation = { readonly field: string; readonly reason: string }

const detailsOf = (json: unknown) => listIn(objectIn(objectIn(json).error).details).map(objectIn)

/** What is wrong with the fields of a request. */
export const violationsOf = (json: unknown): Violation[] =>
  detailsOf(json)
    .flatMap(({ fieldViolations }) => listIn(fieldViolations))
    .filter(isObject)
    .map(({ field, reason }) => ({ field: textIn(field) ?? '', reason: codeIn(reason) ?? 'INVALID_ARGUMENT' }))

/** All reasons that an answer gives, of the request and of its fields. */
export const reasonsOf = (json: unknown): string[] => [
  ...detailsOf(json).flatMap(({ reason }) => codeIn(reason) ?? []),
  ...violationsOf(json).map(({ reason }) => reason),
]

/** Reasons are constants; anything else could quote what was sent. */
const codeIn = (value: unknown): string | undefined =>
  typeof value === 'string' && /^[A-Z][A-Z0-9_]{1,80}$/.test(value) ? value : undefined

/** Reasons that no other rows would change: somebody has to do something at Google or in the settings. */
const refusals: Readonly<Record<string, readonly [code: string, message: string]>> = {
  TERMS_AND_CONDITIONS_NOT_SIGNED: ['terms_not_accepted', 'accept its terms for customer data in the account first'],
  NOT_ALLOWLISTED: ['not_allowed', 'ask Google to admit the account to customer lists'],
  THIRD_PARTY_USER_DATA_NOT_ALLOWED: ['not_allowed', 'choose first-party data as the data source type'],
  INVALID_USER_LIST_ID: ['list_not_found', 'check the ID of the list, and whether the account owns it'],
  INVALID_USER_LIST_TYPE: ['wrong_list_type', 'the list holds another kind of identifier than the connection sends'],
  OPERATING_ACCOUNT_LOGIN_ACCOUNT_MISMATCH: ['account_mismatch', 'check the advertiser ID and the manager account ID'],
}

/** What an answer that is no success asks for. Google's own message is left out: it may quote what was sent. */
export function outcomeOfGoogle(answer: Answer): Outcome {
  const { status, json, headers } = answer
  const reasons = reasonsOf(json)
  const refusal = reasons.find((reason) => Object.hasOwn(refusals, reason))
  if (refusal) {
    const [code, message] = refusals[refusal] ?? ['refused', '']
    return new Outcome('refused', code, `Google refuses the request (${refusal}): ${message}.`)
  }
  const name = codeIn(objectIn(objectIn(json).error).status)
  if (status === 429 || name === 'RESOURCE_EXHAUSTED') {
    const message = 'Google limits how often may be called (RESOURCE_EXHAUSTED).'
    return new Outcome('retry', 'rate_limited', message, waitOf(retryDelayMs(json) ?? retryAfterMs({ headers })))
  }
  if (name === 'ABORTED') {
    return new Outcome('retry', 'platform_fault', 'Google gave up, because two requests met (ABORTED).')
  }
  if (status === 400) {
    const because = reasons[0] ?? name ?? 'status 400'
    return new Outcome('split', 'invalid_batch', `Google refuses the request because of what is in it (${because}).`)
  }
  return outcomeOfStatus('Google', answer)
}

/** How long Google asks to wait, written as `7s` or `1.5s`. */
function retryDelayMs(json: unknown): number | undefined {
  const delay = detailsOf(json)
    .map(({ retryDelay }) => (typeof retryDelay === 'string' ? /^(\d+(?:\.\d+)?)s$/.exec(retryDelay)?.[1] : undefined))
    .find((seconds) => seconds !== undefined)
  return delay === undefined ? undefined : Math.round(Number(delay) * 1000)
}
