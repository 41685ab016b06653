import type pg from 'pg'
import { tooSlow } from '../databases/faults.ts'
import { createRowQueue } from '../databases/row-queue.ts'
import type { Session } from './session.ts'

/** COPY in both directions, as queries of our own for the driver, which has none. */

type Connection = pg.Connection & {
  query(text: string): void
  sendCopyFail(message: string): void
}

/**
 * Sends what a COPY … FROM STDIN takes, in the text format, slice by slice and as fast as the server reads.
 * Resolves with the number of rows that the server counted. Rejects with the driver's own error.
 */
export function copyIn(session: Session, statement: string, slices: Iterable<Buffer>): Promise<number> {
  return new Promise((resolve, reject) => {
    let count = 0
    let failed: unknown
    session.submit({
      submit: (connection: pg.Connection) => (connection as Connection).query(statement),
      handleCopyInResponse(connection: Connection) {
        send(connection, slices, () => failed !== undefined).catch((error: unknown) => {
          // Ours is the fault: the server must be told that no more comes.
          failed ??= error
          connection.sendCopyFail('the sender failed')
        })
      },
      handleCommandComplete(message: { text: string }) {
        count = Number(/^COPY (\d+)/.exec(message.text)?.[1] ?? 0)
      },
      handleError(error: unknown) {
        failed ??= error
        reject(failed)
      },
      handleReadyForQuery: () => resolve(count),
    } as pg.Submittable)
  })
}

async function send({ stream }: Connection, slices: Iterable<Buffer>, failed: () => boolean): Promise<void> {
  for (const slice of slices) {
    if (failed() || stream.destroyed) return
    const head = Buffer.allocUnsafe(5)
    head.write('d', 0, 'latin1')
    head.writeUInt32BE(slice.length + 4, 1)
    stream.cork()
    stream.write(head)
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

/**
 * Runs a COPY … TO STDOUT and gives the rows that came since the last time, each as the server wrote it with its line
 * feed. The server waits where they are not taken.
 * @param waitMs how long the server may send nothing while rows are wanted
 */
export async function* copyOut(session: Session, statement: string, waitMs: number): AsyncGenerator<string[]> {
  let stream: pg.Connection['stream'] | undefined
  const queue = createRowQueue<string>({ pause: () => stream?.pause(), resume: () => stream?.resume() }, waitMs, () =>
    session.abandon(tooSlow(session.place.host, waitMs)),
  )
  session.submit({
    submit(connection: pg.Connection) {
      stream = connection.stream
      ;(connection as Connection).query(statement)
    },
    // Made text at once, because the driver puts what comes next into the same memory.
    handleCopyData: ({ chunk }: { chunk: Buffer }) => queue.push(chunk.toString(), chunk.length),
    handleCommandComplete() {},
    handleError: (error: unknown) => queue.fail(session.faultOf(error)),
    handleReadyForQuery: () => queue.end(),
  } as pg.Submittable)
  yield* queue.drain()
}
