/// <reference path="./libraries.d.ts" />
import { pipeline, Readable } from 'node:stream'
import { crc32, createInflateRaw } from 'node:zlib'
import yauzl, { type Entry } from 'yauzl'
import { ConnectorError } from '../../connector-error.ts'
import { bounds } from '../bounds.ts'
import { openBytesAt, pieceBytes } from '../bytes.ts'
import type { FileStore, StoredFile } from '../store.ts'
import { expandsTooMuch } from '../unpack.ts'
import { damaged, refused, WorkbookDamage } from './damage.ts'

/** The parts of a workbook, which is a ZIP file. Nothing is written to a disk, so names of parts cannot be used as paths. */
export type Zip = {
  /** Whether there is a part, by its name without the first slash, in any letter case. */
  has(name: string): boolean
  /**
   * The bytes of a part, unpacked.
   * @throws a `ConnectorError` if the part is missing, damaged or encrypted, or the workbook unpacks to more than the limit
   */
  read(name: string): AsyncIterable<Uint8Array>
  /** Resets the count of unpacked bytes. */
  begin(): void
  /** Counts characters that result from the parts, like unpacked bytes: one text can be in any number of cells. */
  spend(amount: number): void
  /** Bytes of the file up to the used end of the part that was read last. */
  readonly storedBytes: number
}

/** Bytes of one read to find the parts. */
const windowBytes = 128 << 10

/**
 * Finds the parts of a file, by its directory at the end.
 * @throws a `ConnectorError`: `invalid_file` if it is not a ZIP file or has a part twice, and the errors of the store
 */
export async function openZip(store: FileStore, file: StoredFile, signal: AbortSignal): Promise<Zip> {
  const reader = new StoreReader(store, file, signal)
  try {
    const zip = await yauzl.fromRandomAccessReaderPromise(reader, file.sizeBytes, { autoClose: false })
    if (zip.entryCount > bounds.workbook.parts) {
      throw refused(file, `has more than ${bounds.workbook.parts} parts. Save the sheet in a separate workbook.`)
    }
    const entries = new Map<string, Entry>()
    for await (const entry of zip.eachEntry()) {
      const name = entry.fileName.toLowerCase()
      if (entries.has(name)) throw new WorkbookDamage('a repeated part')
      entries.set(name, entry)
    }
    const { freeBytes, ratio } = bounds.compressed
    let left = 0
    let usedTo = 0
    const begin = () => {
      left = Math.max(freeBytes, file.sizeBytes * ratio)
    }
    begin()
    const spend = (amount: number) => {
      left -= amount
      if (left < 0) throw expandsTooMuch(file)
    }
    return {
      has: (name) => entries.has(name.toLowerCase()),
      begin,
      spend,
      get storedBytes() {
        return usedTo
      },
      async *read(name) {
        const entry = entries.get(name.toLowerCase())
        if (!entry) throw damaged(file, new WorkbookDamage('a missing part'))
        if (entry.isEncrypted()) throw refused(file, 'is encrypted. Save it without a password.')
        if (entry.compressionMethod !== 0 && entry.compressionMethod !== 8) {
          throw refused(file, 'uses an unsupported compression. Save it again in a spreadsheet program.')
        }
        try {
          const { fileDataStart } = await zip.readLocalFileHeaderPromise(entry, { minimal: true })
          const stored = storedBytes(store, file, fileDataStart, entry.compressedSize, signal, (at) => {
            usedTo = at
          })
          let sum = 0
          let size = 0
          for await (const bytes of entry.compressionMethod === 8 ? inflated(stored) : stored) {
            spend(bytes.length)
            size += bytes.length
            sum = crc32(bytes, sum)
            yield bytes
          }
          if (size !== entry.uncompressedSize || sum !== entry.crc32) throw new WorkbookDamage('bytes that changed')
        } catch (error) {
          throw signal.aborted ? error : named(error, file, reader)
        }
      },
    }
  } catch (error) {
    throw signal.aborted ? error : named(error, file, reader)
  }
}

function named(error: unknown, file: StoredFile, reader: StoreReader): unknown {
  if (reader.failure !== undefined) return reader.failure
  return error instanceof ConnectorError ? error : damaged(file, error)
}

/** Reads ranges of the stored file for the library. It keeps the last range, because the directory is read in small steps. */
class StoreReader extends yauzl.RandomAccessReader {
  readonly #store: FileStore
  readonly #file: StoredFile
  readonly #signal: AbortSignal
  #start = 0
  #window: Buffer = Buffer.alloc(0)
  /** The error of the store. */
  failure: unknown

  constructor(store: FileStore, file: StoredFile, signal: AbortSignal) {
    super()
    this.#store = store
    this.#file = file
    this.#signal = signal
  }

  override read(
    buffer: Buffer,
    offset: number,
    length: number,
    position: number,
    callback: (error: unknown, bytesRead?: number) => void,
  ): void {
    this.#read(position, length).then(
      (bytes) => callback(null, bytes.copy(buffer, offset)),
      (error) => {
        this.failure ??= error
        callback(error)
      },
    )
  }

  async #read(position: number, length: number): Promise<Buffer> {
    if (position < this.#start || position + length > this.#start + this.#window.length) {
      const range = openBytesAt(this.#store, this.#file, position, this.#signal)
      try {
        this.#window = Buffer.from(await range.peek(Math.max(length, windowBytes)))
        this.#start = position
      } finally {
        await range.close()
      }
    }
    return this.#window.subarray(position - this.#start, position - this.#start + length)
  }
}

async function* storedBytes(
  store: FileStore,
  file: StoredFile,
  start: number,
  size: number,
  signal: AbortSignal,
  used: (at: number) => void,
): AsyncGenerator<Uint8Array> {
  const range = openBytesAt(store, file, start, signal)
  try {
    for (let left = size; left > 0; ) {
      const bytes = await range.peek(Math.min(left, pieceBytes))
      if (bytes.length === 0) throw new WorkbookDamage('an incomplete part')
      range.take(bytes.length)
      left -= bytes.length
      used(range.storedBytes)
      yield bytes
    }
  } finally {
    await range.close()
  }
}

function inflated(stored: AsyncIterable<Uint8Array>): AsyncIterable<Uint8Array> {
  const inflate = createInflateRaw({ chunkSize: pieceBytes })
  // Without the callback, an error would end the process. The reader of `inflate` receives the error.
  pipeline(Readable.from(stored, { objectMode: false, highWaterMark: pieceBytes }), inflate, () => {})
  return inflate
}
