import { ConnectorError } from '@penstock/connector'
import { type Answer, isSuccess } from '../platform-api/call.ts'
import { isObject, listIn, objectIn, textIn } from '../platform-api/json.ts'
import { waitMsOf } from '../platform-api/rate-limit.ts'
import { connectorErrorOfStatus } from '../platform-api/status.ts'
import { itemReasons, refusals, sizeReasons } from './google-reasons.ts'

/** The items of a request, as messages name them. */
export type Item = 'member' | 'event'

/** One thing that Google found wrong: where, and a reason in its own words. */
type Violation = { readonly field: string; readonly reason: string }

const detailsOf = (json: unknown) => listIn(objectIn(objectIn(json).error).details).map(objectIn)

/** The field errors of a request. */
const violationsOf = (json: unknown): Violation[] =>
  detailsOf(json)
    .flatMap(({ fieldViolations }) => listIn(fieldViolations))
    .filter(isObject)
    .map(({ field, reason }) => ({ field: textIn(field) ?? '', reason: codeIn(reason) ?? 'INVALID_ARGUMENT' }))

/**
 * All reasons in an answer. The reasons of its fields come first, because the reason of the request as a whole says only that
 * something is wrong.
 */
const reasonsOf = (json: unknown): string[] => [
  ...violationsOf(json).map(({ reason }) => reason),
  ...detailsOf(json).flatMap(({ reason }) => codeIn(reason) ?? []),
]

/** The paths with which violations name members and events: `audience_members[3].user_data…`, `events.events[3].currency`. */
const places = { member: /audience_?members\[(\d+)\](.*)$/is, event: /events\[(\d+)\](.*)$/is } as const

/**
 * The members or events that an answer blames, by their places in the request, and why. Google also reports errors of the
 * account, the list or the conversion action at the first item. So no item is blamed if one of the reasons is of that kind,
 * and the first item is not blamed for an unknown reason that names nothing inside of it.
 * @param items how many were sent
 */
export function blamedItems({ status, json }: Answer, item: Item, items: number): Map<number, string> {
  const violations = status === 400 ? violationsOf(json) : []
  const blamed = new Map<number, string>()
  if (violations.some(({ reason }) => Object.hasOwn(refusals, reason) || sizeReasons.has(reason))) return blamed
  for (const { field, reason } of violations) {
    const [, place, inside] = places[item].exec(field) ?? []
    const why = Object.hasOwn(itemReasons, reason) ? `: ${itemReasons[reason]}` : ''
    if (place === undefined || Number(place) >= items) continue
    if (Number(place) === 0 && inside === '' && why === '') continue
    blamed.set(Number(place), `Google does not accept this ${item}${why} (${reason}).`)
  }
  return blamed
}

/** A constant that names a reason. `undefined` for anything else, which could quote what was sent. */
export const codeIn = (value: unknown): string | undefined =>
  typeof value === 'string' && /^[A-Z][A-Z0-9_]{1,80}$/.test(value) ? value : undefined

/** The error of an answer, if any. Omits Google's message, which can quote the request. */
export function errorOfGoogle(answer: Answer): ConnectorError | undefined {
  if (isSuccess(answer)) return undefined
  const { status, json } = answer
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
      afterMs: retryDelayMs(json) ?? waitMsOf(answer),
    })
  }
  if (name === 'ABORTED') {
    const message = 'Google aborted the request, because of a conflict with another one (ABORTED).'
    return new ConnectorError('platform_error', message)
  }
  if (status === 400) {
    const because = reasons.find((reason) => reason !== 'INVALID_ARGUMENT') ?? reasons[0] ?? name ?? 'status 400'
    const isOfItems = violationsOf(json).some(
      ({ field, reason }) => /audience_?members|events/i.test(field) && Object.hasOwn(itemReasons, reason),
    )
    if (isOfItems || reasons.some((reason) => sizeReasons.has(reason))) {
      return new ConnectorError('invalid_batch', `Google refuses the request because of its content (${because}).`)
    }
    // Google names what it does not accept. If it names nothing, other rows would be refused too.
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
