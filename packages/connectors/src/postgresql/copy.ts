import { isUtf8 } from 'node:buffer'
import type pg from 'pg'
import { tooSlow } from '../databases/problems.ts'
import type { RawBlock } from '../databases/raw-chunks.ts'
import { createRowQueue, type RowQueue } from '../databases/row-queue.ts'
import { type Ends, RawBlocks } from './raw-blocks.ts'
import type { PostgresSession } from './session.ts'

/** COPY in both directions, as queries of our own for the driver, which has none. */

type Connection = pg.Connection & {
  query(text: string): void
  sendCopyFail(message: string): void
}

/** The driver's calls for messages that do not belong into a COPY. */
function strayHandlers(stray: () => void): object {
  return {
    handleRowDescription: stray,
    handleDataRow: stray,
    handlePortalSuspended: stray,
    handleEmptyQuery: stray,
    handleCopyInResponse: stray,
    handleCopyData: stray,
  }
}

/** The number of rows of a completed COPY; `undefined` if the server does not report it. */
const countIn = (tag: string): number | undefined => {
  const count = Number(/^COPY (\d{1,15})$/.exec(tag)?.[1] ?? Number.NaN)
  return Number.isSafeInteger(count) ? count : undefined
}

/**
 * Sends what a COPY … FROM STDIN takes, slice by slice and as fast as the server reads. Each slice is one
 * message, since a message for each row takes a server longer.
 * Resolves with the number of rows that the server counted. Rejects with the driver's error of the server, or a `ConnectorError`.
 * @param rows how many there are
 */
export function copyIn(
  session: PostgresSession,
  statement: string,
  slices: Iterable<Buffer>,
  rows: number,
): Promise<number> {
  return new Promise((resolve, reject) => {
    let count: number | undefined
    let asked = false
    let sent = false
    let failed: unknown
    const fail = (error: unknown) => {
      failed ??= error
      reject(failed)
    }
    const stray = () => fail(session.unexpected('an answer that does not belong to a COPY'))
    session.copy({
      submit: (connection: pg.Connection) => (connection as Connection).query(statement),
      ...strayHandlers(stray),
      handleCopyInResponse(connection: Connection) {
        if (asked) return stray()
        asked = true
        send(connection, slices, () => failed !== undefined)
          .then(() => {
            sent = true
          })
          .catch((error: unknown) => {
            // The error is ours: the server must know that no more rows come.
            failed ??= error
            connection.sendCopyFail('the sender failed')
          })
      },
      handleCommandComplete({ text }: { text: string }) {
        count = countIn(text)
        if (!sent || count === undefined || count > rows) stray()
      },
      handleError: (error: unknown) => fail(session.errorOf(error)),
      handleReadyForQuery() {
        if (count === undefined) stray()
        else resolve(count)
      },
    } as pg.Submittable)
  })
}

async function send({ stream }: Connection, slices: Iterable<Buffer>, failed: () => boolean): Promise<void> {
  for (const slice of slices) {
    if (failed() || stream.destroyed) return
    stream.cork()
    stream.write(headOf(slice))
    const ready = stream.write(slice)
    process.nextTick(() => stream.uncork())
    // An error of the server comes in between the slices.
    await new Promise<void>((resolve) => {
      if (ready) return setImmediate(resolve)
      const go = () => {
        stream.off('drain', go)
        stream.off('close', go)
        resolve()
      }
      stream.on('drain', go)
      stream.on('close', go)
    })
  }
  if (!failed() && !stream.destroyed) stream.write(Buffer.from([0x63, 0, 0, 0, 4]))
}

/** The head of a message CopyData. */
function headOf({ length }: Buffer): Buffer {
  const head = Buffer.allocUnsafe(5)
  head.write('d', 0, 'latin1')
  head.writeUInt32BE(length + 4, 1)
  return head
}

/** A row as the server wrote it, with its line feed. */
export type Line = {
  readonly text: string
  readonly bytes: number
  /** Whether all of it is UTF-8, which PostgreSQL guarantees. */
  readonly isText: boolean
}

/**
 * Runs a COPY … TO STDOUT and yields the rows that arrived since the last time. The server waits if they are not read.
 * @param waitMs how long the server may send nothing while rows are wanted
 */
export async function* copyOut(session: PostgresSession, statement: string, waitMs: number): AsyncGenerator<Line[]> {
  let stream: pg.Connection['stream'] | undefined
  const queue = createRowQueue<Line>({ pause: () => stream?.pause(), resume: () => stream?.resume() }, waitMs, () =>
    session.abandon(tooSlow(session.place.host, waitMs)),
  )
  let rows = 0
  session.copy(
    copyOutQuery(session, statement, queue, {
      submit: (connection) => {
        stream = connection.stream
      },
      // Made text at once, because the driver puts what comes next into the same memory.
      handleCopyData({ chunk }: { chunk: Buffer }) {
        rows += 1
        queue.push({ text: chunk.toString(), bytes: chunk.length, isText: isUtf8(chunk) }, chunk.length)
      },
      rows: () => rows,
    }),
  )
  yield* queue.drain()
}

/** The same as bytes, which do not pass the driver. */
export async function* copyOutRaw(
  session: PostgresSession,
  statement: string,
  waitMs: number,
  ends?: Ends,
): AsyncGenerator<RawBlock[]> {
  const queue = createRowQueue<RawBlock>(
    { pause: () => session.hold(true), resume: () => session.hold(false) },
    waitMs,
    () => session.abandon(tooSlow(session.place.host, waitMs)),
  )
  const blocks = new RawBlocks((block) => queue.push(block, block.bytes.length), ends)
  session.copy(
    copyOutQuery(session, statement, queue, {
      handleCopyData: () => queue.fail(session.unexpected('rows of COPY out of place')),
      rows: () => blocks.rows,
      onEnd: () => blocks.flush(),
    }),
    blocks,
  )
  yield* queue.drain()
}

/** A COPY … TO STDOUT as a query for the driver. */
function copyOutQuery<T>(
  session: PostgresSession,
  statement: string,
  queue: Pick<RowQueue<T>, 'fail' | 'end'>,
  to: {
    readonly submit?: (connection: pg.Connection) => void
    readonly handleCopyData: (message: { chunk: Buffer }) => void
    /** How many rows came. */
    readonly rows: () => number
    /** All of them came. Answers whether the end is what it must be. */
    readonly onEnd?: () => boolean
  },
): pg.Submittable {
  let complete = false
  const stray = () => queue.fail(session.unexpected('an answer that does not belong to a COPY'))
  return {
    submit(connection: pg.Connection) {
      to.submit?.(connection)
      ;(connection as Connection).query(statement)
    },
    ...strayHandlers(stray),
    handleCopyData: to.handleCopyData,
    handleCommandComplete({ text }: { text: string }) {
      complete = text === 'COPY' || countIn(text) === to.rows()
      if (!complete) stray()
    },
    handleError: (error: unknown) => queue.fail(session.problemOf(error)),
    handleReadyForQuery() {
      if (!complete) return stray()
      if (to.onEnd?.() === false) return stray()
      queue.end()
    },
  } as pg.Submittable
}
