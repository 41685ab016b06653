import { openParquet, ParquetError, type ParquetErrorCode, type ParquetPlace } from '@penstock/parquet/read'
import { ConnectorError, type ConnectorErrorCode } from '../connector-error.ts'
import { boundColumns, bounds, rowErrors } from './bounds.ts'
import { type ByteStream, openBytesAt, pieceBytes } from './bytes.ts'
import { distinctNames } from './column-names.ts'
import type { FilePiece, OpenedFile } from './opened-file.ts'
import type { FileStore, StoredFile } from './store.ts'

const codes: Readonly<Record<ParquetErrorCode, ConnectorErrorCode>> = {
  malformed: 'invalid_file',
  unsupported: 'invalid_file',
  too_large: 'file_too_large',
  too_many_columns: 'too_many_columns',
}

/**
 * Opens a Parquet file of a store.
 * @throws a `ConnectorError` for every error of the file, and the errors of the store; so does `read`
 */
export async function openParquetFile(
  store: FileStore,
  file: StoredFile,
  { chunkBytes = 4 * pieceBytes }: { chunkBytes?: number },
  signal: AbortSignal,
): Promise<OpenedFile> {
  let stream: ByteStream | undefined
  const source = {
    sizeBytes: file.sizeBytes,
    async readRange(start: number, end: number) {
      const range = openBytesAt(store, file, start, signal)
      try {
        return Buffer.from(await range.peek(end - start))
      } finally {
        await range.close()
      }
    },
    async readNext(start: number, end: number) {
      if (stream && stream.storedBytes > start) {
        await stream.close()
        stream = undefined
      }
      stream ??= openBytesAt(store, file, start, signal)
      await stream.skip(start - stream.storedBytes)
      const bytes = Buffer.from(await stream.peek(end - start))
      stream.take(bytes.length)
      return bytes
    },
  }
  const named = (cause: unknown) => {
    if (!(cause instanceof ParquetError)) return cause
    const { code, clause, advice } = cause
    return new ConnectorError(codes[code], `${file.name} ${clause}.${advice && ` ${advice}`}`, { cause })
  }
  const options = { limits: { ...bounds, rowErrors }, chunkBytes, signal }
  const parquet = await openParquet(source, options).catch((error) => {
    throw named(error)
  })
  return {
    columns: distinctNames(boundColumns(file.name, parquet.columns)),
    types: parquet.types,
    typeNames: parquet.typeNames,
    async *read(after) {
      try {
        for await (const { rows, errors, place, storedBytes } of parquet.read(after as ParquetPlace | undefined)) {
          yield { rows, errors, place: { ...place, storedBytes }, storedBytes } satisfies FilePiece
        }
      } catch (error) {
        throw named(error)
      }
    },
    async close() {
      await stream?.close()
    },
  }
}
