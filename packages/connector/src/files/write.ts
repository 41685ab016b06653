import type { Batch, Delivery, Destination, DestinationContext, DestinationWriter } from '../destination.ts'
import type { Json } from '../rows.ts'
import { type Encoder, makeEncoder, rejectionOf, type WriteOptions } from './encoder.ts'
import { writeOptionsOf } from './fields.ts'
import { extensionOf } from './format.ts'
import type { FileSink } from './store.ts'

export type { WriteOptions } from './encoder.ts'

/** A format of only one platform, and the extension of its files. */
export type PlatformFormat = { readonly extension: string; readonly encoder: Encoder }

/**
 * The delivery state of a part: its end in the file, the sink's own delivery state, and the notes for the end of the file. The
 * first part has the types of the columns, which the file keeps even if the source declares others after a crash.
 */
type PartDeliveryState = {
  readonly end: number
  readonly sink: Json
  readonly notes?: readonly Json[]
  readonly types?: Batch['types']
  /** The file is complete with this part. */
  readonly last?: true
}

/** Encoded rows that are not written yet. */
type Held = { readonly bytes: Uint8Array; readonly notes?: readonly Json[] }

/**
 * Writes the rows of a transfer into one file, part by part: a batch is a part, or several batches if the sink needs larger
 * parts. After a crash it resumes after the last part with a delivery state, and writes the same bytes as without a crash. A
 * file without rows is written, too, with a header if its format has one.
 * @param sink creates the sink for a file name with this extension: `csv`, `ndjson.gz`
 */
export async function writeFiles(
  context: DestinationContext,
  sink: (extension: string) => FileSink | Promise<FileSink>,
  options: WriteOptions | PlatformFormat,
): Promise<DestinationWriter> {
  const isOfPlatform = 'encoder' in options
  const place = await sink(isOfPlatform ? options.extension : extensionOf(options.format, options.gzip))
  const deliveryStates = context.deliveryStates.map((deliveryState) => deliveryState as unknown as PartDeliveryState)
  let types = deliveryStates[0]?.types
  let encoder = isOfPlatform ? options.encoder : undefined
  /** @param declared the types of the columns, which apply if nothing is written yet */
  const encoderFor = async (declared: Batch['types']): Promise<Encoder> => {
    if (encoder) return encoder
    if (deliveryStates.length === 0) types = declared
    encoder = await makeEncoder(options as WriteOptions, context.columns, types)
    return encoder
  }
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
      ...(types && deliveryStates.length === 0 ? { types } : {}),
      ...(last ? { last } : {}),
    }
    deliveryStates.push(deliveryState)
    return deliveryState as unknown as Json
  }
  /** Writes the held rows and the end of the file. Does nothing if it is called again. */
  const writeEnd = async (): Promise<Delivery | undefined> => {
    if (deliveryStates.at(-1)?.last) return undefined
    const notes = [...deliveryStates.flatMap((deliveryState) => deliveryState.notes ?? []), ...notesOf(held)]
    const { end: endOf } = await encoderFor(undefined)
    const end = await endOf(notes, writtenTo() + sizeOf(held))
    const parts = end ? [...held, { bytes: end }] : held
    if (parts.length === 0) return undefined
    const deliveryState = await writePart(parts, true)
    held = []
    return { bytes: end?.length ?? 0, deliveryState }
  }
  return {
    async deliver({ rows, types: declared }) {
      context.signal.throwIfAborted()
      const { encode } = await encoderFor(declared)
      const { rejected, ...encoded } = await encode(rows, writtenTo() + sizeOf(held))
      const refused = rejected ? { rejected } : {}
      if (rejected?.length === rows.length) return { bytes: 0, ...refused, ...(held.length > 0 ? { held: true } : {}) }
      const { length: bytes } = encoded.bytes
      const parts = [...held, encoded]
      if (sizeOf(parts) < place.partBytesMin) {
        held = parts
        return { held: true, bytes, ...refused }
      }
      // If this throws, the batch is treated as undelivered: it is delivered again, while the batches that were held before
      // are not.
      const deliveryState = await writePart(parts, false)
      held = []
      return { bytes, ...refused, deliveryState }
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

/** Finds the rows that a file could not store, for a preview, by the common settings of file destinations. */
export const fileRejections: NonNullable<Destination['rejectionsOf']> = async ({ settings }) => {
  const { format, typed } = writeOptionsOf(settings)
  if (format !== 'Parquet' || !typed) return () => []
  // The rows are checked synchronously, so the library is loaded now.
  const { rowGroupWriter } = await import('@penstock/parquet/write')
  return ({ columns, types, rows }) => rowGroupWriter(columns, types).invalid(rows).map(rejectionOf)
}

const sizeOf = (parts: readonly Held[]): number => parts.reduce((sum, { bytes }) => sum + bytes.length, 0)

const notesOf = (parts: readonly Held[]): Json[] => parts.flatMap(({ notes = [] }) => notes)
