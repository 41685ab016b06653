import {
  type Batch,
  type Chunk,
  type Connector,
  ConnectorError,
  type Delivery,
  type Finding,
  type Json,
  type Row,
} from '@penstock/connector'
import { type TestContextOptions, testContext } from '@penstock/connector/acceptance'

/** Reading and writing through a connector, as the engine does it but all at once. */

/** Reads everything, or what comes after a checkpoint. */
export async function readAll(connector: Connector, options: TestContextOptions, after?: Json): Promise<Chunk[]> {
  const reader = await connector.source?.open?.(testContext(options))
  if (!reader) throw new Error(`${connector.slug} is no source`)
  try {
    const chunks: Chunk[] = []
    for await (const chunk of reader.read(after)) chunks.push(chunk)
    return chunks
  } finally {
    await reader.close()
  }
}

export const rowsOf = (chunks: readonly Chunk[]): Row[] => chunks.flatMap(({ rows }) => rows)

/** Where the next transfer begins once all of these chunks are confirmed. */
export function cursorOf(chunks: readonly Chunk[]): Json {
  const last = chunks.at(-1)
  const cursor = last?.cursorAfter?.(last.rows.length)
  if (cursor === undefined) throw new Error('These chunks have no cursor')
  return cursor
}

/** A batch whose key follows from its number. */
export const batchOf = (columns: readonly string[], rows: readonly Row[], number = 1): Batch => ({
  key: number.toString(16).padStart(32, '0'),
  columns,
  rows,
  firstRow: 1,
})

/** Delivers a batch with a writer of its own. */
export async function deliver(connector: Connector, options: TestContextOptions, batch: Batch): Promise<Delivery> {
  const writer = await connector.destination?.deliver?.open(testContext({ columns: batch.columns, ...options }))
  if (!writer) throw new Error(`${connector.slug} is no destination`)
  try {
    return await writer.deliver(batch)
  } finally {
    await writer.close?.()
  }
}

/** The findings of a destination about columns before the first delivery. */
export async function inspect(connector: Connector, options: TestContextOptions): Promise<readonly Finding[]> {
  const findings = await connector.destination?.deliver?.inspect?.(testContext(options))
  if (!findings) throw new Error(`${connector.slug} cannot be inspected`)
  return findings
}

/** The error with which a promise was rejected: its action and code. */
export async function connectorErrorOf(promise: Promise<unknown>): Promise<[action: string, code: string]> {
  const [result] = await Promise.allSettled([promise])
  if (result?.status !== 'rejected') throw new Error('It should have been rejected')
  if (!(result.reason instanceof ConnectorError)) throw result.reason
  return [result.reason.action, result.reason.code]
}
