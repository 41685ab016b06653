import { ConnectorError, type Rejection } from '@penstock/connector'
import { listIn, numberIn, objectIn, textIn } from '../platform-api/json.ts'
import { poll } from '../platform-api/polling.ts'
import type { DataManager } from './data-manager.ts'
import { accountProcessingReasons, duplicateReasons, processingReasons } from './processing-reasons.ts'

/** A request that Google took in and goes through later. */
export type Taken = {
  readonly requestId: string
  /** How many members or events it had. */
  readonly items: number
}

/** What requests are made of, as messages name them. */
export type Item = 'member' | 'event'

/** What is known of requests: rejections that say how many items, and the requests of which nothing is known yet. */
export type Decided = { readonly rejected: Rejection[]; readonly undecided: Taken[] }

/**
 * Asks what became of requests, again and again until all are decided. Throws a connector error where one failed as a whole
 * because of the account.
 * @param waitMs until when to ask, from now; each request is asked about once whatever it is
 */
export async function decide(
  dataManager: DataManager,
  requests: readonly Taken[],
  item: Item,
  { waitMs, signal }: { waitMs: number; signal: AbortSignal },
): Promise<Decided> {
  const rejected: Rejection[] = []
  let undecided = [...requests]
  await poll(
    async () => {
      const left: Taken[] = []
      for (const request of undecided) {
        const found = await rejectionsOf(dataManager, request, item, signal)
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
 * The rejections of one request; `undefined` where they are not known. That its items were taken in is certain by now, so
 * that what goes wrong with asking changes nothing.
 */
async function rejectionsOf(
  { ask }: DataManager,
  { requestId, items }: Taken,
  item: Item,
  signal: AbortSignal,
): Promise<Rejection[] | undefined> {
  const asked = { path: '/requestStatus:retrieve', query: { requestId }, expects: () => true }
  const answer = await ask(asked).catch(() => signal.throwIfAborted())
  if (!answer || answer.status >= 300) return undefined
  const statuses = listIn(answer.json.requestStatusPerDestination).map(objectIn)
  if (statuses.length === 0 || statuses.some(({ requestStatus }) => !isDecided(requestStatus))) return undefined
  const counts = new Map<string, number>()
  for (const { errorInfo } of statuses) {
    for (const { recordCount, reason } of listIn(objectIn(errorInfo).errorCounts).map(objectIn)) {
      const name = /^[A-Z][A-Z0-9_]{1,100}$/.test(String(reason))
        ? String(reason)
        : 'PROCESSING_ERROR_REASON_UNSPECIFIED'
      counts.set(name, (counts.get(name) ?? 0) + (numberIn(recordCount) ?? 0))
    }
  }
  const failed = statuses.every(({ requestStatus }) => requestStatus === 'FAILED')
  if (failed) assertAccountIsFine([...counts.keys()])
  if (failed && counts.size === 0) counts.set('PROCESSING_ERROR_REASON_UNSPECIFIED', items)
  // What came before is there: Google counts it once.
  for (const reason of duplicateReasons) counts.delete(reason)
  return withinItems(counts, items, item)
}

const isDecided = (status: unknown): boolean => ['SUCCESS', 'FAILED', 'PARTIAL_SUCCESS'].includes(textIn(status) ?? '')

/** A request that failed as a whole because of the account is nothing that other rows would change. */
function assertAccountIsFine(reasons: readonly string[]): void {
  const reason = reasons.find((one) => Object.hasOwn(accountProcessingReasons, one))
  if (reason === undefined || reasons.length > 1) return
  const [code, todo] = accountProcessingReasons[reason] ?? ['request_refused', 'check the account at Google']
  throw new ConnectorError(code, `Google used nothing of a request that it had taken in (${reason}): ${todo}.`)
}

/** An item may fail for several reasons, and is one all the same. */
function withinItems(counts: ReadonlyMap<string, number>, items: number, item: Item): Rejection[] {
  let left = items
  return [...counts].flatMap(([reason, counted]) => {
    const count = Math.max(0, Math.min(left, Math.floor(counted)))
    left -= count
    return count > 0 ? [{ count, reason: sentenceOf(reason, item) }] : []
  })
}

function sentenceOf(reason: string, item: Item): string {
  const why = Object.hasOwn(processingReasons, reason) ? `: ${processingReasons[reason]}` : ''
  return `Google took these ${item}s in and then did not use them${why} (${reason}). It does not say which rows they are.`
}
