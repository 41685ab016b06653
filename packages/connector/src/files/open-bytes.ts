import { type ByteStream, makeStream } from './bytes.ts'
import type { FileStore, StoredFile } from './store.ts'
import { magicBytes, unpackerOf } from './unpack.ts'

/**
 * Opens a file at its beginning. A file is unpacked if it begins like gzip, zstd or bzip2, regardless of its name, because some
 * stores unpack files that they serve.
 * @throws a `ConnectorError`, `invalid_file`, for other compressions and archives, and the errors of the store
 */
export async function openBytes(store: FileStore, file: StoredFile, signal: AbortSignal): Promise<ByteStream> {
  const raw = makeStream(store.read(file, 0), signal)
  try {
    const unpack = unpackerOf(file, await raw.peek(magicBytes))
    return unpack ? makeStream(unpack(raw), signal, raw) : raw
  } catch (error) {
    await raw.close()
    throw error
  }
}
