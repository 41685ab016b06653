import { mebibytes, parquetBounds } from './bounds.ts'
import { ParquetError } from './parquet-error.ts'

/** Counts the memory and the output of a file, and throws a `ParquetError` if they exceed the limits. */
export type Meter = {
  /** Reserves bytes of pages and dictionaries; a negative number releases them. */
  hold(bytes: number): void
  /** Counts bytes of values that are longer than their stored form, until the next piece begins. */
  expand(bytes: number): void
  /** Bytes that a page unpacks to. */
  unpack(bytes: number): void
  /** Characters of rows. */
  emit(chars: number): void
  beginGroup(): void
  beginPiece(): void
}

/** Creates the meter for reading a file of this size once. */
export function makeMeter(sizeBytes: number): Meter {
  const { heldBytes, expansion } = parquetBounds
  const most = Math.max(expansion.free, expansion.ratio * sizeBytes)
  let held = 0
  let expanded = 0
  let unpacked = 0
  let emitted = 0
  const boundHeld = (bytes: number) => {
    if (bytes <= heldBytes) return
    const clause = `has a row group whose columns need more than ${mebibytes(heldBytes)} at once`
    throw new ParquetError('too_large', clause, 'Write it with smaller pages or smaller row groups.')
  }
  const boundExpansion = (count: number) => {
    if (count <= most) return
    const clause = `unpacks to more than ${mebibytes(expansion.free)} and to more than ${expansion.ratio} times its size`
    throw new ParquetError('too_large', clause, 'Write the file in parts, or as CSV or NDJSON.')
  }
  return {
    hold(bytes) {
      held += bytes
      boundHeld(held)
    },
    expand(bytes) {
      expanded += bytes
      boundHeld(expanded)
    },
    unpack(bytes) {
      unpacked += bytes
      boundExpansion(unpacked)
    },
    emit(chars) {
      emitted += chars
      boundExpansion(emitted)
    },
    beginGroup() {
      held = 0
      expanded = 0
    },
    beginPiece() {
      expanded = 0
    },
  }
}
