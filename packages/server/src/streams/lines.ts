import { promisify } from 'node:util'
import { constants, zstdCompress, zstdDecompress } from 'node:zlib'
import { linesOf } from '@penstock/connector'
import { parseExactJson } from '@penstock/connector/exact-json'
import type { SealedPlace } from '../secrets/seal.ts'
import { eventBounds } from './bounds.ts'

/** How events are stored: lines of JSON, compressed with zstd, many in a row. */

/** An event to store. */
export type EventLine = {
  /** `[received, event]` or `[received, event, more]` as JSON, without a line break. */
  readonly line: string
  /** UUID form of the hash of its message ID. If undefined, repeated events are stored too. */
  readonly digest: string | undefined
}

/** Facts about an event that are not in the event itself. */
export type MoreOfEvent = {
  /** The message ID, if it is not `messageId` of the event. */
  readonly id?: string
  /** Whether it was sent to try the stream. */
  readonly test?: true
}

export const lineOf = (receivedMs: number, event: unknown, more: MoreOfEvent = {}): string =>
  JSON.stringify(Object.keys(more).length > 0 ? [receivedMs, event, more] : [receivedMs, event])

/** A stored event. `value` is undefined if it was erased. */
export type StoredEvent = {
  readonly receivedMs: number
  readonly value: object | undefined
  readonly more: MoreOfEvent
}

export function readLine(line: string): StoredEvent {
  const [receivedMs, value, more = {}] = (parseExactJson(line) as [number, object, MoreOfEvent?] | null) ?? [0]
  return { receivedMs, value, more }
}

/** The place that the lines of a batch are sealed for. */
export const batchPlace = (streamId: string, first: number, count: number): SealedPlace => [
  'stream',
  streamId,
  String(first),
  String(count),
]

const compress = promisify(zstdCompress)
const fast = { params: { [constants.ZSTD_c_compressionLevel]: 1 } }

/** Lines of one batch, compressed. */
export type PackedLines = { readonly count: number; readonly bytes: Buffer }

/** Compresses lines for storage. */
export const packLines = (lines: readonly string[]): Promise<Buffer> =>
  compress(Buffer.from(lines.join('\n'), 'utf8'), fast)

const decompress = promisify(zstdDecompress)

/** The lines of a batch. Throws if their number differs from the batch's number of events. */
export async function unpackLines(bytes: Buffer, count: number): Promise<string[]> {
  const lines = linesOf((await decompress(bytes, { maxOutputLength: batchBytesMax })).toString('utf8'))
  if (lines.length !== count) throw new Error(`A batch of ${count} events has ${lines.length} lines`)
  return lines
}

/** Lines of a batch are far smaller. This service did not write a larger one. */
const batchBytesMax = 64 * 1024 ** 2

/** Puts events into batches of a bounded size. */
export async function packEvents(events: readonly EventLine[]): Promise<PackedLines[]> {
  const groups: string[][] = []
  let length = Number.POSITIVE_INFINITY
  for (const { line } of events) {
    const group = groups.at(-1)
    if (!group || length + line.length > eventBounds.batch || group.length === eventBounds.batchEvents) {
      groups.push([])
      length = 0
    }
    groups.at(-1)?.push(line)
    length += line.length
  }
  return Promise.all(groups.map(async (lines) => ({ count: lines.length, bytes: await packLines(lines) })))
}
