import { setTimeout as sleep } from 'node:timers/promises'
import { ConnectorError } from '@penstock/connector'
import { tooSlow } from '../databases/problems.ts'
import { createRowQueue } from '../databases/row-queue.ts'
import type { MysqlSession } from './session.ts'

/**
 * Values of a counter are given to transactions in their order, but the transactions commit in any order, and a row with a time
 * may be committed long after it. A cursor that passes a row which is not committed would never return to it. So before rows are
 * read up to a bound, none up to it may be uncommitted.
 *
 * Which rows are uncommitted is found by reading the same cursors and keys twice at the same time: as everyone sees them, and with
 * the isolation level READ UNCOMMITTED. Unlike reading with locks, this holds up no other transaction, can be in no deadlock,
 * and needs no privilege but SELECT.
 */

const pauseMs = 200
/** Rows that only one of the two has shown so far. A transaction with more than this in sight is waited for without looking further. */
const unmatchedMax = 200_000

export type Watched = {
  readonly openSession: () => Promise<MysqlSession>
  /** The statement that gives cursor and key of the rows from a cursor to the bound, in their order; the cursor is the first column. */
  readonly statement: (from: string | undefined) => string
  /** The text of the cursor, as it is compared. */
  readonly from: string | undefined
  readonly lagSeconds: number
  /** How long a statement may give no row. */
  readonly waitMs: number
  readonly signal: AbortSignal
}

/**
 * Waits until all rows up to the bound are committed or gone.
 * Throws `retry` if that takes longer than `lagSeconds` after they were first looked at; with 0, nothing is waited for.
 */
export async function waitForWriters(watched: Watched): Promise<void> {
  const { lagSeconds, signal } = watched
  if (lagSeconds === 0) return
  let { from } = watched
  let deadline: number | undefined
  while (true) {
    const startedMs = performance.now()
    const pending = await firstPending(watched, from)
    if (pending === undefined) return
    from = pending
    const nowMs = performance.now()
    deadline ??= nowMs + lagSeconds * 1000
    if (nowMs > deadline) throw writersRunning(lagSeconds)
    // Looking again takes no more than a third of the time. The signal's own reason is what callers know.
    await sleep(Math.max(pauseMs, 2 * (nowMs - startedMs)), undefined, { signal }).catch(() => signal.throwIfAborted())
  }
}

/**
 * The cursor of the first row that is there and not committed; `undefined` if there is none. Rows that were read uncommitted
 * and are committed by now do not count, because that side begins first.
 */
async function firstPending(watched: Watched, from: string | undefined): Promise<string | undefined> {
  const { openSession, statement, waitMs } = watched
  const sessions: MysqlSession[] = []
  try {
    for (const level of ['read uncommitted', 'read committed']) {
      const session = await openSession()
      sessions.push(session)
      await session.guard(async () => {
        await session.run(`set session time_zone = '+00:00', session net_write_timeout = 86400`)
        await session.run(`set session transaction isolation level ${level}`)
      })
    }
    return await compare(sessions, statement(from), waitMs)
  } finally {
    // Either may be in the middle of its rows.
    for (const session of sessions) session.abandon()
    for (const session of sessions) await session.close()
  }
}

/** Reads both sides as fast as each other, so that few rows of one wait for the same of the other. */
async function compare(sessions: readonly MysqlSession[], sql: string, waitMs: number): Promise<string | undefined> {
  /** How many times more a row was seen uncommitted than committed, if that differs. In the order of the rows. */
  const unmatched = new Map<string, number>()
  const sides = sessions.map((session, at) => ({
    rows: keysOf(session, sql, waitMs),
    weight: at === 0 ? 1 : -1,
    count: 0,
    ended: false,
  }))
  while (true) {
    const [next] = sides.filter(({ ended }) => !ended).sort((a, b) => a.count - b.count)
    if (!next) break
    const { value: rows, done } = await next.rows.next()
    if (done) {
      next.ended = true
      continue
    }
    next.count += rows.length
    for (const row of rows) {
      const balance = (unmatched.get(row) ?? 0) + next.weight
      if (balance === 0) unmatched.delete(row)
      else unmatched.set(row, balance)
    }
    if (unmatched.size > unmatchedMax) return cursorIn(unmatched.keys().next().value ?? '')
  }
  for (const [row, balance] of unmatched) if (balance > 0) return cursorIn(row)
  return undefined
}

/** Each row as one text. */
async function* keysOf(session: MysqlSession, sql: string, waitMs: number): AsyncGenerator<string[], undefined> {
  const flow = { pause: () => session.pause(), resume: () => session.resume() }
  const queue = createRowQueue<string>(flow, waitMs, () => {
    const connectorError = tooSlow(session.place.host, waitMs)
    session.abandon(connectorError)
    queue.fail(connectorError)
  })
  session.stream(sql, {
    row(values) {
      const row = values.map((value) => value?.toString('latin1') ?? '').join('\0')
      // Most of a row's memory is not its text.
      queue.push(row, row.length + 64)
    },
    end: () => queue.end(),
    fail: (error) => queue.fail(error),
  })
  yield* queue.drain()
  return undefined
}

const cursorIn = (row: string): string => Buffer.from(row.split('\0', 1)[0] ?? '', 'latin1').toString()

const writersRunning = (lagSeconds: number): ConnectorError =>
  new ConnectorError(
    'writers_running',
    `A transaction has had rows of the source uncommitted for more than ${lagSeconds} seconds, the lag of this source. They could be missed: end the transaction, or raise the lag.`,
  )
