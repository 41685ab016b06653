import { createHash } from 'node:crypto'
import { ConnectorError } from '@penstock/connector'
import { wait } from './client.ts'

/** How an asynchronous job at a platform is waited for. Times in milliseconds. */
export type Polling = {
  /** The wait before the second request. Each further wait is twice as long. One second by default. */
  readonly firstMs?: number
  /** No wait is longer. 30 seconds unless said otherwise. */
  readonly mostMs?: number
  /** Time limit from now. Infinite for work that always ends on the platform. */
  readonly totalMs: number
  readonly signal: AbortSignal
}

/**
 * Polls with growing waits until there is a result.
 * @param ask resolves with `undefined` while there is no result
 * @returns the result, or `undefined` if there was no result in time. It asks at least once
 */
export async function poll<T>(
  ask: () => Promise<T | undefined>,
  { firstMs = 1_000, mostMs = 30_000, totalMs, signal }: Polling,
): Promise<T | undefined> {
  const untilMs = performance.now() + totalMs
  for (let waitMs = firstMs; ; waitMs = Math.min(mostMs, waitMs * 2)) {
    signal.throwIfAborted()
    const result = await ask()
    if (result !== undefined) return result
    const leftMs = untilMs - performance.now()
    if (leftMs <= 0) return undefined
    // The last request is made when the time is over, and not a long wait before.
    await wait(Math.min(waitMs, leftMs), signal)
  }
}

/** The same for what must have a result: throws `timeout`, after which the transfer tries again. @param what names the job */
export async function pollUntilDone<T>(what: string, ask: () => Promise<T | undefined>, polling: Polling): Promise<T> {
  const result = await poll(ask, polling)
  if (result !== undefined) return result
  const seconds = Math.round(polling.totalMs / 1000)
  throw new ConnectorError('timeout', `${what} was not done within ${seconds} seconds.`)
}

/** One page of a list at a platform. */
export type Page<Item> = {
  readonly items: readonly Item[]
  /** Leads to the next page. `undefined` on the last page. */
  readonly next: string | undefined
}

/** Page limit of a list, since a list that always has another page would never end. */
const pagesMax = 100_000

/**
 * Reads a list of a platform page by page, from the page of `cursor` or from the first. Yields each page with the
 * cursor that led to it, so that reading can continue there after a crash. Throws `malformed_response` if a page leads
 * back to a page that was read, or if there are too many pages.
 */
export async function* pagesOf<OnePage extends Page<unknown>>(
  read: (cursor: string | undefined) => Promise<OnePage>,
  cursor?: string,
): AsyncGenerator<OnePage & { readonly cursor: string | undefined }> {
  // Digests, since cursors can be long.
  const seen = new Set(cursor === undefined ? [] : [digestOf(cursor)])
  let at = cursor
  for (let pages = 0; pages < pagesMax; pages++) {
    const page = await read(at)
    yield { ...page, cursor: at }
    if (page.next === undefined) return
    const digest = digestOf(page.next)
    if (seen.has(digest)) break
    seen.add(digest)
    at = page.next
  }
  throw new ConnectorError(
    'malformed_response',
    'The list of the platform does not end; report this with the name of the connector.',
  )
}

const digestOf = (cursor: string): string => createHash('sha256').update(cursor).digest('base64').slice(0, 22)
