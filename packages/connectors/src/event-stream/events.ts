import { zstdDecompressSync } from 'node:zlib'
import { ConnectorError, linesOf, type StreamedEvents } from '@penstock/connector'
import { parseExactJson } from '@penstock/connector/files'

/** An event of a stream, or a record for events that are lost. */
export type NumberedEvent = {
  readonly number: number
  readonly receivedMs: number
  /** Undefined if it was erased. */
  readonly value: Readonly<Record<string, unknown>> | undefined
  readonly bytes: number
  /** Why there is a record instead of an event. */
  readonly lost?: string
}

/** Lines of a batch are far smaller. This service did not write a larger one. */
const batchBytesMax = 64 << 20

/** The events of a batch, with their numbers. Throws `source_changed` if the batch is damaged. */
export function* eventsIn({ first, count, lines }: StreamedEvents): Generator<NumberedEvent> {
  const texts = linesOf(zstdDecompressSync(lines, { maxOutputLength: batchBytesMax }).toString('utf8'))
  if (texts.length !== count) throw damaged(first)
  for (const [index, text] of texts.entries()) {
    const line = parseExactJson(text) as [number, Record<string, unknown>] | null
    const [receivedMs, value] = line ?? [0, undefined]
    yield { number: first + index, receivedMs, value, bytes: text.length }
  }
}

const damaged = (first: number) =>
  new ConnectorError('source_changed', `The events after number ${first - 1} are damaged: the count is wrong.`)
