import type { Delivery, DestinationContext, DestinationWriter } from '../destination.ts'
import type { Json } from '../rows.ts'
import { type Encoder, makeEncoder } from './encoder.ts'
import { extensionOf, type WriteFormat } from './format.ts'
import type { FileSink } from './store.ts'

export type WriteOptions = { readonly format: WriteFormat; readonly gzip: boolean }

/** A format that one platform has, and the extension of its files. */
export type PlatformFormat = { readonly extension: string; readonly encoder: Encoder }

/** The delivery state of a part: if it ends in the file, the sink's own delivery state, and what the end of the file has to know. */
type PartDeliveryState = {
  readonly end: number
  readonly sink: Json
  readonly notes?: readonly Json[]
  /** The file is whole with this part. */
  readonly last?: true
}

/** Encoded rows that are not written yet. */
type Held = { readonly bytes: Uint8Array; readonly notes?: readonly Json[] }

/**
 * Writes the rows of a transfer into one file, part by part: a batch is a part, or several are where the sink wants
 * larger ones. After a crash it resumes after the last part that has a delivery state, with the same bytes as without one.
 * A file without rows is written, too: with a header, where its format has one.
 * @param sink makes the sink for a file name with this extension: `csv`, `ndjson.gz`
 */
export async function writeFiles(
  context: DestinationContext,
  sink: (extension: string) => FileSink | Promise<FileSink>,
  options: WriteOptions | PlatformFormat,
): Promise<DestinationWriter> {
  const { encoder, extension } = 'encoder' in options ? options : await formatOf(options, context.columns)
  const place = await sink(extension)
  const deliveryStates = context.deliveryStates.map((deliveryState) => deliveryState as PartDeliveryState)
  let held: readonly Held[] = []

  const writtenTo = (): number => deliveryStates.at(-1)?.end ?? 0
  const sinkDeliveryStates = (): Json[] => deliveryStates.map((deliveryState) => deliveryState.sink)
  const writePart = async (parts: readonly Held[], last: boolean): Promise<Json> => {
    const bytes = parts.length === 1 && parts[0] ? parts[0].bytes : Buffer.concat(parts.map((part) => part.bytes))
    const offset = writtenTo()
    const part = { number: deliveryStates.length, offset, bytes }
    const written = await place.writePart(part, sinkDeliveryStates())
    const notes = notesOf(parts)
    const deliveryState: PartDeliveryState = {
      end: offset + bytes.length,
      sink: written,
      ...(notes.length > 0 ? { notes } : {}),
      ...(last ? { last } : {}),
    }
    deliveryStates.push(deliveryState)
    return deliveryState
  }
  /** Writes what is held and what the file ends with; finds its work done when called again. */
  const writeEnd = async (): Promise<Delivery | undefined> => {
    if (deliveryStates.at(-1)?.last) return undefined
    const notes = [...deliveryStates.flatMap((deliveryState) => deliveryState.notes ?? []), ...notesOf(held)]
    const end = await encoder.end(notes, writtenTo() + sizeOf(held))
    const parts = end ? [...held, { bytes: end }] : held
    if (parts.length === 0) return undefined
    const deliveryState = await writePart(parts, true)
    held = []
    return { bytes: end?.length ?? 0, deliveryState }
  }
  return {
    async deliver({ rows }) {
      context.signal.throwIfAborted()
      const encoded = await encoder.encode(rows, writtenTo() + sizeOf(held))
      const { length: bytes } = encoded.bytes
      const parts = [...held, encoded]
      if (sizeOf(parts) < place.partBytesMin) {
        held = parts
        return { held: true, bytes }
      }
      // If this throws, the batch counts as undelivered: it is delivered again, while the batches that were held before
      // are not.
      const deliveryState = await writePart(parts, false)
      held = []
      return { bytes, deliveryState }
    },
    flush: writeEnd,
    async finish() {
      await writeEnd()
      await place.publish(sinkDeliveryStates())
    },
    async abort() {
      held = []
      try {
        // Confirmed rows become a complete file: Parquet cannot be read without its end.
        if (deliveryStates.length > 0) await writeEnd()
        await place.abort(sinkDeliveryStates())
      } catch {
        // The store does not respond, or another attempt has finished the file. The existing file does not change.
      }
    },
    async close() {
      held = []
      await place.close?.().catch(() => {})
    },
  }
}

const formatOf = async ({ format, gzip }: WriteOptions, columns: readonly string[]): Promise<PlatformFormat> => ({
  encoder: await makeEncoder(format, columns, gzip),
  extension: extensionOf(format, gzip),
})

const sizeOf = (parts: readonly Held[]): number => parts.reduce((sum, { bytes }) => sum + bytes.length, 0)

const notesOf = (parts: readonly Held[]): Json[] => parts.flatMap(({ notes = [] }) => notes)
