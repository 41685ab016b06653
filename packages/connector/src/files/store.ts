import type { Json } from '../rows.ts'

/** Interface of file stores. Formats, checkpoints and batches are implemented here, once, for all stores. */

/** A file as it was when the transfer listed it. */
export type StoredFile = {
  /** Its whole name or path; files are read in the order of their names, compared by code units. */
  readonly name: string
  readonly sizeBytes: number
  /** Changes whenever the content does: an ETag, a generation, a time and a size. */
  readonly version: string
}

/** Where files are read. Everything throws `ConnectorError`s. */
export type FileStore = {
  /** Distinguishes it from other stores in which files can have the same names and versions: its bucket. */
  readonly id?: string
  /** The files that the settings mean, in any order; throws `object_not_found` if there is none. */
  list(): Promise<readonly StoredFile[]>
  /**
   * The bytes of a file from an offset to its end. Throws `source_changed` where the file is another version
   * by now. A break of the stream is thrown as `retry`.
   */
  read(file: StoredFile, fromByte: number): AsyncIterable<Uint8Array>
  close?(): Promise<void>
}

/**
 * Writes one file, part by part. The file becomes visible only when it is complete. All methods throw
 * `ConnectorError`s.
 */
export type FileSink = {
  /** Parts but the last must have at least so many bytes; smaller ones are held back until they have. 0: any size will do. */
  readonly partBytesMin: number
  /**
   * Writes a part of at least one byte durably. Number and offset count from 0 within the file; a part that was written
   * before and not confirmed is written over. Resolves with its delivery state, which also holds what was begun (an upload, a
   * session).
   */
  writePart(part: { number: number; offset: number; bytes: Uint8Array }, deliveryStates: readonly Json[]): Promise<Json>
  /** Makes the file visible under its name, out of the parts with these delivery states; finds its work done when called again. */
  publish(deliveryStates: readonly Json[]): Promise<void>
  /**
   * The transfer ended without success. Makes the file visible out of the parts with these delivery states, as `publish` does, but
   * in the place of no file of an earlier transfer. Removes what has no delivery state; without delivery states, everything. Finds its
   * work done when called again.
   */
  abort(deliveryStates: readonly Json[]): Promise<void>
  close?(): Promise<void>
}
