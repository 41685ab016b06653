import { promisify } from 'node:util'
import { gzip } from 'node:zlib'
import type { GroupNote } from '@penstock/parquet/write'
import type { Json, Row } from '../rows.ts'
import { encodeCsv } from './csv-write.ts'
import type { WriteFormat } from './format.ts'
import { encodeNdjson } from './ndjson-write.ts'

/** A piece of a file packed with gzip. Packed pieces behind each other are one packed file. */
export const gzipPiece: (bytes: Uint8Array) => Promise<Uint8Array> = promisify(gzip)

/** Rows of a file as its bytes. Notes are what the end of the file has to know of rows before it. */
export type Encoder = {
  /** Rows at an offset of the file; its beginning comes with the rows at offset 0. */
  encode(rows: readonly Row[], offset: number): Promise<{ bytes: Uint8Array; notes?: readonly Json[] }>
  /** Final bytes of the file, at an offset of it; undefined if the file is complete already. */
  end(notes: readonly Json[], offset: number): Promise<Uint8Array | undefined>
}

export async function makeEncoder(format: WriteFormat, columns: readonly string[], packed: boolean): Promise<Encoder> {
  if (format === 'Parquet') return makeParquetEncoder(columns)
  const pack = async (bytes: Uint8Array): Promise<Uint8Array> => (packed ? gzipPiece(bytes) : bytes)
  if (format === 'NDJSON') {
    return {
      encode: async (rows) => ({ bytes: await pack(encodeNdjson(columns, rows)) }),
      // Not every store has files without a byte, so a file without rows is an empty line.
      end: async (_notes, offset) => (offset === 0 ? pack(Buffer.from('\n')) : undefined),
    }
  }
  return {
    encode: async (rows, offset) => ({ bytes: await pack(encodeCsv(offset === 0 ? [columns, ...rows] : rows)) }),
    end: async (_notes, offset) => (offset === 0 ? pack(encodeCsv([columns])) : undefined),
  }
}

/** The library is loaded on demand, because most transfers do not need it. */
async function makeParquetEncoder(columns: readonly string[]): Promise<Encoder> {
  const { encodeFooter, encodeRowGroups } = await import('@penstock/parquet/write')
  return {
    encode: async (rows, offset) => {
      return encodeRowGroups(columns, rows, offset)
    },
    end: async (notes, offset) => encodeFooter(columns, notes as unknown as GroupNote[], offset),
  }
}
