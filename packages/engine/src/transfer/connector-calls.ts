import { asOutcome, type Batch, type Delivery, type SourceReader } from '@penstock/connector'

/** Calls of connectors: what they do wrong is told apart from what happens to our own code and database. */

/** A connector threw something that is no outcome, or said what cannot be. */
export class ConnectorDefect extends Error {
  override readonly name = 'ConnectorDefect'
}

/** Whether a side of the connection is to blame. */
export const isOfTheSides = (error: unknown): boolean =>
  asOutcome(error) !== undefined || error instanceof ConnectorDefect

/** Calls a connector. Throws an `Outcome`, a `ConnectorDefect`, or the signal's reason once that is aborted. */
export async function ofConnector<T>(signal: AbortSignal, call: () => Promise<T>): Promise<T> {
  signal.throwIfAborted()
  try {
    return await call()
  } catch (error) {
    signal.throwIfAborted()
    if (asOutcome(error)) throw error
    throw new ConnectorDefect('The connector met a defect of its own.', { cause: error })
  }
}

/** A connector's reader, each read of which is such a call. */
export function guarded(reader: SourceReader, signal: AbortSignal): SourceReader {
  return {
    ...(reader.total ? { total: reader.total } : {}),
    async *read(after) {
      const chunks = reader.read(after)[Symbol.asyncIterator]()
      try {
        for (;;) {
          const next = await ofConnector(signal, () => chunks.next())
          if (next.done) return
          yield next.value
        }
      } finally {
        await chunks.return?.()
      }
    },
    close: () => reader.close(),
  }
}

/** The same delivery. Throws where what it rejects is not of this batch: its count would not be the truth about rows. */
export function checked(delivery: Delivery, { rows }: Batch): Delivery {
  const indexes = new Set<number>()
  let rejected = 0
  for (const { index, count = 1 } of delivery.rejected ?? []) {
    if (index === undefined) rejected += count
    else if (rows[index] === undefined || indexes.has(index)) {
      throw new Error('A destination rejected a row that it was not sent, or one row twice')
    } else indexes.add(index)
  }
  if (rejected + indexes.size > rows.length) throw new Error('A destination rejected more rows than it was sent')
  return delivery
}
