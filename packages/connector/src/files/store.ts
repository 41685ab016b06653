import type { Json } from '../rows.ts'

/** Interface of file stores. Formats, checkpoints and batches are implemented here, once, for all stores. */

/** A file as it was when the transfer listed it. */
export type StoredFile = {
  /** Its full name or path; files are read in the order of their names, compared by code units. */
  readonly name: string
  readonly sizeBytes: number
  /** Changes whenever the content changes: an ETag, a generation, a time and a size. */
  readonly version: string
}

/** Where files are read. Everything throws `ConnectorError`s. */
export type FileStore = {
  /** Distinguishes it from other stores with the same names and versions of files, such as its bucket. */
  readonly id?: string
  /** The files that match the settings, in any order; throws `object_not_found` if there are no files. */
  list(): Promise<readonly StoredFile[]>
  /**
   * The bytes of a file from an offset to its end. Throws `source_changed` if the file has another version. An interrupted
   * stream is thrown as `retry`.
   */
  read(file: StoredFile, fromByte: number): AsyncIterable<Uint8Array>
  close?(): Promise<void>
}

/**
 * Writes one file, part by part. The file becomes visible only when it is complete. All methods throw
 * `ConnectorError`s.
 */
export type FileSink = {
  /** Minimum bytes of each part except the last. Smaller parts are held until they are large enough. 0 allows any size. */
  readonly partBytesMin: number
  /**
   * Writes a part of at least one byte durably. Number and offset count from 0 within the file. A part that was written before
   * and not confirmed is overwritten. Resolves with its delivery state, which also identifies a begun upload or session.
   */
  writePart(part: { number: number; offset: number; bytes: Uint8Array }, deliveryStates: readonly Json[]): Promise<Json>
  /** Makes the file visible under its name, from the parts with these delivery states. Does nothing if it is called again. */
  publish(deliveryStates: readonly Json[]): Promise<void>
  /**
   * The transfer ended without success. Makes the file visible from the parts with these delivery states, like `publish`, but
   * never replaces a file of an earlier transfer. Removes everything without a delivery state. Does nothing if it is called
   * again.
   */
  abort(deliveryStates: readonly Json[]): Promise<void>
  close?(): Promise<void>
}
