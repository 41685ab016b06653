import { promisify } from 'node:util'
import { gzip } from 'node:zlib'
import type { Delivery, DestinationContext, DestinationWriter } from '../destination.ts'
import type { Json, Row } from '../rows.ts'
import { csvOf } from './csv-write.ts'
import { extensionOf, type WriteFormat } from './format.ts'
import type { FileSink } from './store.ts'

const packGzip = promisify(gzip)

export type WriteOptions = { readonly format: WriteFormat; readonly gzip: boolean }

/** What a destination of files takes at once. */
export const fileBatch: { readonly rowsMax: number; readonly bytesMax: number } = {
  rowsMax: 200_000,
  bytesMax: 16 << 20,
}

/** The receipt of a part: where it ends, the sink's own receipt, and what the end of the file has to know of it. */
type PartReceipt = { readonly end: number; readonly sink: Json }

/**
 * Writes the rows of a transfer into one file, part by part: a batch is a part, or several are where the sink wants
 * larger ones. After a crash it goes on behind the last part that has a receipt.
 * @param sink makes the sink for a file name with this extension: `csv`, `ndjson.gz`
 */
export async function writeFiles(
  context: DestinationContext,
  sink: (extension: string) => FileSink | Promise<FileSink>,
  options: WriteOptions,
): Promise<DestinationWriter> {
  const place = await sink(extensionOf(options.format, options.gzip))
  const receipts = context.receipts.map((receipt) => receipt as PartReceipt)
  const sinkReceipts = receipts.map((receipt) => receipt.sink)
  let offset = receipts.at(-1)?.end ?? 0
  let begun = receipts.length > 0
  let held: Uint8Array[] = []

  const encode = async (rows: readonly Row[]): Promise<Uint8Array> => {
    const text = csvOf(begun ? rows : [context.columns, ...rows])
    const bytes = Buffer.from(text)
    return options.gzip ? packGzip(bytes) : bytes
  }
  const writeHeld = async (): Promise<Json> => {
    const bytes = Buffer.concat(held)
    const receipt = await place.writePart({ number: sinkReceipts.length, offset, bytes }, sinkReceipts)
    offset += bytes.length
    sinkReceipts.push(receipt)
    held = []
    return { end: offset, sink: receipt } satisfies PartReceipt
  }
  /** Writes what is held, and the header of a file without rows. */
  const writeEnd = async (): Promise<Delivery | undefined> => {
    let bytes = 0
    if (!begun) {
      const header = await encode([])
      bytes = header.length
      held = [header]
      begun = true
    }
    return held.length > 0 ? { bytes, receipt: await writeHeld() } : undefined
  }
  return {
    async deliver({ rows }) {
      context.signal.throwIfAborted()
      const encoded = await encode(rows)
      const before = { held, begun }
      held = [...held, encoded]
      begun = true
      const bytes = encoded.length
      if (sizeOf(held) < place.partBytesMin) return { held: true, bytes }
      try {
        return { bytes, receipt: await writeHeld() }
      } catch (error) {
        // The batch is as good as not delivered: it comes again, while what was held before it does not.
        held = before.held
        begun = before.begun
        throw error
      }
    },
    flush: writeEnd,
    async finish() {
      await writeEnd()
      await place.publish(sinkReceipts)
    },
    async abort() {
      held = []
      await place.abort(sinkReceipts).catch(() => {})
    },
    async close() {
      held = []
      await place.close?.().catch(() => {})
    },
  }
}

const sizeOf = (parts: readonly Uint8Array[]): number => parts.reduce((sum, { length }) => sum + length, 0)
