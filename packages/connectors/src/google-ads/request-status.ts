import { ConnectorError, type Rejection } from '@penstock/connector'
import type { PlatformClient } from '../platform-api/client.ts'
import { listIn, numberIn, objectIn, textIn } from '../platform-api/json.ts'
import { poll } from '../platform-api/polling.ts'
import { type RowBlame, rejectionsOf as rejectionsOfRows, type SentItem } from '../platform-api/rows/row-results.ts'
import type { Item } from './google-errors.ts'
import { accountProcessingReasons, duplicateReasons, processingReasons } from './processing-reasons.ts'

/** A request that Google accepted and processes later. */
export type HeldRequest = {
  readonly requestId: string
  /** How many members or events it had. */
  readonly count: number
  /** These items, in the order of the request. Absent if their rows can no longer be named. */
  readonly items?: readonly SentItem[]
}

/** The results of requests: rejections with their number of items, and the requests without a result yet. */
type Decided = { readonly rejected: Rejection[]; readonly undecided: HeldRequest[] }

/**
 * Polls the status of requests until all are decided. Throws a connector error if one failed as a whole because of the account.
 * @param waitMs time limit from now; each request is polled at least once
 */
export async function decide(
  client: PlatformClient,
  requests: readonly HeldRequest[],
  item: Item,
  { waitMs, signal }: { waitMs: number; signal: AbortSignal },
): Promise<Decided> {
  const rejected: Rejection[] = []
  let undecided = [...requests]
  await poll(
    async () => {
      const left: HeldRequest[] = []
      for (const request of undecided) {
        const found = await rejectionsOf(client, request, item, signal)
        if (found) rejected.push(...found)
        else left.push(request)
      }
      undecided = left
      return undecided.length === 0 ? true : undefined
    },
    { mostMs: 15_000, totalMs: waitMs, signal },
  )
  return { rejected, undecided }
}

/**
 * The rejections of one request. `undefined` if they are not known. It is already certain that its items were accepted, so
 * failures to get them are ignored.
 */
async function rejectionsOf(
  client: PlatformClient,
  { requestId, count, items }: HeldRequest,
  item: Item,
  signal: AbortSignal,
): Promise<Rejection[] | undefined> {
  const asked = { path: '/requestStatus:retrieve', query: { requestId }, expects: () => true }
  const answer = await client.askObject(asked).catch(() => signal.throwIfAborted())
  if (!answer || answer.status >= 300) return undefined
  const statuses = listIn(answer.json.requestStatusPerDestination).map(objectIn)
  if (statuses.length === 0 || statuses.some(({ requestStatus }) => !isDecided(requestStatus))) return undefined
  const errors = statuses.flatMap(({ errorInfo }) => listIn(objectIn(errorInfo).errorCounts).map(errorOf))
  const failed = statuses.every(({ requestStatus }) => requestStatus === 'FAILED')
  if (failed) assertAccountIsFine(errors)
  if (failed && errors.length === 0) errors.push({ reason: unspecified, count, places: [] })
  // Google has the item of a duplicate already, and counts it once.
  const blames = errors.filter(({ reason }) => !duplicateReasons.has(reason))
  // An item can fail for several reasons, and is counted once.
  if (items) return rejectionsOfItems(items, blames, item)
  const unnamed = blames.map(({ reason, count }) => ({ reason, count, places: [] }))
  return rejectionsOfItems([{ rows: Array.from({ length: count }, (_, place) => place) }], unnamed, item)
}

const unspecified = 'PROCESSING_ERROR_REASON_UNSPECIFIED'

/** How many items of a request failed for a reason, and which ones where Google says it. */
type ProcessingError = { readonly reason: string; readonly count: number; readonly places: readonly number[] }

function errorOf(given: unknown): ProcessingError {
  const { reason, recordCount, recordIndices } = objectIn(given)
  const places = listIn(recordIndices).flatMap((place) => {
    const number = numberIn(place)
    return number !== undefined && Number.isSafeInteger(number) && number >= 0 ? [number] : []
  })
  return {
    reason: /^[A-Z][A-Z0-9_]{1,100}$/.test(String(reason)) ? String(reason) : unspecified,
    count: Math.max(numberIn(recordCount) ?? 0, 0),
    places,
  }
}

/** Names the rows whose indexes Google reports, and counts the others. */
function rejectionsOfItems(items: readonly SentItem[], errors: readonly ProcessingError[], item: Item): Rejection[] {
  const blames: RowBlame[] = errors.flatMap(({ reason, count, places }) => [
    ...places.map((at) => ({ at, reason: sentenceOf(reason, item, true) })),
    { count: count - places.length, reason: sentenceOf(reason, item, false) },
  ])
  return rejectionsOfRows(items, blames)
}

const isDecided = (status: unknown): boolean => ['SUCCESS', 'FAILED', 'PARTIAL_SUCCESS'].includes(textIn(status) ?? '')

/** A request that failed as a whole because of the account is nothing that other rows would change. */
function assertAccountIsFine(errors: readonly ProcessingError[]): void {
  const reasons = [...new Set(errors.map(({ reason }) => reason))]
  const [only] = reasons
  if (only === undefined || reasons.length > 1 || !Object.hasOwn(accountProcessingReasons, only)) return
  const [code, todo] = accountProcessingReasons[only] ?? ['request_refused', 'check the account at Google']
  throw new ConnectorError(code, `Google used nothing of a request that it had taken in (${only}): ${todo}.`)
}

function sentenceOf(reason: string, item: Item, isNamed: boolean): string {
  const why = Object.hasOwn(processingReasons, reason) ? `: ${processingReasons[reason]}` : ''
  return isNamed
    ? `Google took this ${item} in and then did not use it${why} (${reason}).`
    : `Google took these ${item}s in and then did not use them${why} (${reason}). It is not known which rows they are.`
}
