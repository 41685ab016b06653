import { ConnectorError } from '@penstock/connector'
import type { Answer } from '../platform-api/call.ts'
import { isObject, listIn, objectIn, textIn } from '../platform-api/json.ts'
import { waitMsOf } from '../platform-api/rate-limit.ts'
import { connectorErrorOfStatus } from '../platform-api/status.ts'
import { itemReasons, refusals, sizeReasons } from './google-reasons.ts'
import type { Item } from './request-status.ts'

/** One thing that Google found wrong: where, and a reason in its own words. */
export type Violation = { readonly field: string; readonly reason: string }

const detailsOf = (json: unknown) => listIn(objectIn(objectIn(json).error).details).map(objectIn)

/** What is wrong with the fields of a request. */
export const violationsOf = (json: unknown): Violation[] =>
  detailsOf(json)
    .flatMap(({ fieldViolations }) => listIn(fieldViolations))
    .filter(isObject)
    .map(({ field, reason }) => ({ field: textIn(field) ?? '', reason: codeIn(reason) ?? 'INVALID_ARGUMENT' }))

/**
 * All reasons that an answer gives. Those of its fields come first: beside them, the reason of the request as a whole says
 * only that something is wrong.
 */
export const reasonsOf = (json: unknown): string[] => [
  ...violationsOf(json).map(({ reason }) => reason),
  ...detailsOf(json).flatMap(({ reason }) => codeIn(reason) ?? []),
]

/** Where violations name members, and where events: `audience_members[3].user_data…`, `events.events[3].currency`. */
const places = { member: /audience_?members\[(\d+)\](.*)$/is, event: /events\[(\d+)\](.*)$/is } as const

/**
 * Which members or events an answer blames, by their place in the request, and why. What is wrong with the account, the
 * list or the conversion action Google reports at the first of them, too; so nothing is blamed where one of the reasons is
 * of that kind, and the first one not for a reason that is unknown and names nothing inside of it.
 * @param items how many were sent
 */
export function blamedItems(json: unknown, item: Item, items: number): Map<number, string> {
  const violations = violationsOf(json)
  const blamed = new Map<number, string>()
  if (violations.some(({ reason }) => Object.hasOwn(refusals, reason) || sizeReasons.has(reason))) return blamed
  for (const { field, reason } of violations) {
    const [, place, inside] = places[item].exec(field) ?? []
    if (place === undefined || Number(place) >= items) continue
    if (Number(place) === 0 && inside === '' && !Object.hasOwn(itemReasons, reason)) continue
    blamed.set(Number(place), reason)
  }
  return blamed
}

/** Why Google does not accept a member or an event, in a sentence without its values. */
export const itemRejection = (item: Item, reason: string): string =>
  Object.hasOwn(itemReasons, reason)
    ? `Google does not accept this ${item}: ${itemReasons[reason]} (${reason}).`
    : `Google does not accept this ${item} (${reason}).`

/** Reasons are constants; anything else could quote what was sent. */
const codeIn = (value: unknown): string | undefined =>
  typeof value === 'string' && /^[A-Z][A-Z0-9_]{1,80}$/.test(value) ? value : undefined

/** What an answer that is not a success asks for. Google's own message is left out: it may quote what was sent. */
export function connectorErrorOfGoogle(answer: Answer): ConnectorError {
  const { status, json, headers } = answer
  const reasons = reasonsOf(json)
  const refusal = reasons.find((reason) => Object.hasOwn(refusals, reason))
  if (refusal) {
    const [code, message] = refusals[refusal] ?? ['request_refused', 'check the settings of the connection']
    return new ConnectorError(code, `Google refuses the request (${refusal}): ${message}.`)
  }
  const name = codeIn(objectIn(objectIn(json).error).status)
  if (status === 429 || name === 'RESOURCE_EXHAUSTED') {
    const message = 'Google limits how often it may be called (RESOURCE_EXHAUSTED).'
    return new ConnectorError('rate_limited', message, {
      afterMs: retryDelayMs(json) ?? waitMsOf({ headers }),
    })
  }
  if (name === 'ABORTED') {
    return new ConnectorError(
      'platform_error',
      'Google aborted the request, because of a conflict with another one (ABORTED).',
    )
  }
  if (status === 400) {
    const because = reasons.find((reason) => reason !== 'INVALID_ARGUMENT') ?? reasons[0] ?? name ?? 'status 400'
    const isOfItems = violationsOf(json).some(
      ({ field, reason }) => /audience_?members|events/i.test(field) && Object.hasOwn(itemReasons, reason),
    )
    if (isOfItems || reasons.some((reason) => sizeReasons.has(reason))) {
      return new ConnectorError('invalid_batch', `Google refuses the request because of its content (${because}).`)
    }
    // Google names what it does not accept; where it names none, other rows would change nothing.
    const message = `Google refuses the request, whatever rows are in it (${because}); check the settings of the connection, and report this if they are right.`
    return new ConnectorError('request_refused', message)
  }
  return connectorErrorOfStatus('Google', answer)
}

/** How long Google asks to wait, written as `7s` or `1.5s`. */
function retryDelayMs(json: unknown): number | undefined {
  const delay = detailsOf(json)
    .map(({ retryDelay }) => (typeof retryDelay === 'string' ? /^(\d+(?:\.\d+)?)s$/.exec(retryDelay)?.[1] : undefined))
    .find((seconds) => seconds !== undefined)
  return delay === undefined ? undefined : Math.round(Number(delay) * 1000)
}
