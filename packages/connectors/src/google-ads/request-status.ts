import { setTimeout as delay } from 'node:timers/promises'
import type { Rejection } from '@penstock/connector'
import { listIn, numberIn, objectIn, textIn } from '../platform-api/json.ts'
import type { DataManager } from './data-manager.ts'
import { processingReasons } from './google-reasons.ts'

/** A request that Google took in and goes through later. */
export type Taken = {
  readonly requestId: string
  /** How many members it had. */
  readonly members: number
}

/** What is known of requests: rejections that say how many members, and the requests of which nothing is known yet. */
export type Decided = { readonly rejected: Rejection[]; readonly undecided: Taken[] }

const firstWaitMs = 1_000
const mostWaitMs = 15_000

/**
 * Asks what became of requests, again and again until all are decided.
 * @param waitMs until when to ask, from now; each request is asked about once whatever it is
 */
export async function decide(
  dataManager: DataManager,
  requests: readonly Taken[],
  waitMs: number,
  signal: AbortSignal,
): Promise<Decided> {
  const until = Date.now() + waitMs
  const rejected: Rejection[] = []
  let undecided = [...requests]
  for (let pauseMs = firstWaitMs; ; pauseMs = Math.min(mostWaitMs, pauseMs * 2)) {
    const left: Taken[] = []
    for (const request of undecided) {
      const found = await rejectionsOf(dataManager, request, signal)
      if (found) rejected.push(...found)
      else left.push(request)
    }
    undecided = left
    if (undecided.length === 0 || Date.now() + pauseMs > until) return { rejected, undecided }
    await delay(pauseMs, undefined, { signal }).catch(() => signal.throwIfAborted())
  }
}

/**
 * The rejections of one request; `undefined` where they are not known. That its members were taken in is certain by now, so
 * that what goes wrong with asking changes nothing.
 */
async function rejectionsOf(
  dataManager: DataManager,
  { requestId, members }: Taken,
  signal: AbortSignal,
): Promise<Rejection[] | undefined> {
  const query = new URLSearchParams({ requestId })
  const path = `requestStatus:retrieve?${query}`
  const answer = await dataManager.ask('GET', path, { expects: () => true }).catch(() => signal.throwIfAborted())
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
  if (failed && counts.size === 0) counts.set('PROCESSING_ERROR_REASON_UNSPECIFIED', members)
  return withinMembers(counts, members)
}

const isDecided = (status: unknown): boolean => ['SUCCESS', 'FAILED', 'PARTIAL_SUCCESS'].includes(textIn(status) ?? '')

/** A member may fail for several reasons, and is one all the same. */
function withinMembers(counts: ReadonlyMap<string, number>, members: number): Rejection[] {
  let left = members
  return [...counts].flatMap(([reason, counted]) => {
    const count = Math.min(left, Math.floor(counted))
    left -= count
    return count > 0 ? [{ count, reason: sentenceOf(reason) }] : []
  })
}

function sentenceOf(reason: string): string {
  const why = Object.hasOwn(processingReasons, reason) ? `: ${processingReasons[reason]}` : ''
  return `Google took these members in and then did not use them${why} (${reason}). It does not say which rows they are.`
}
