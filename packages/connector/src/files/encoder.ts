import { promisify } from 'node:util'
import { gzip } from 'node:zlib'
import { type ColumnType, isJsonType } from '@penstock/parquet'
import type { GroupNote, InvalidRow } from '@penstock/parquet/write'
import type { Rejection } from '../destination.ts'
import type { Cell, Json, Row } from '../rows.ts'
import { encodeCsv } from './csv-write.ts'
import type { BinaryForm, WriteFormat } from './format.ts'
import { encodeNdjson } from './ndjson-write.ts'

/** A piece of a file, packed with gzip. Consecutive packed pieces form one packed file. */
export const gzipPiece: (bytes: Uint8Array) => Promise<Uint8Array> = promisify(gzip)

/** Encodes rows as bytes of a file. Notes are data about earlier rows that the end of the file needs. */
export type Encoder = {
  /**
   * The rows, encoded for an offset of the file. The rows at offset 0 include the beginning of the file. Rows that the file
   * cannot store are omitted and rejected.
   */
  encode(rows: readonly Row[], offset: number): Promise<EncodedRows>
  /** Final bytes of the file, at an offset of it; undefined if the file is already complete. */
  end(notes: readonly Json[], offset: number): Promise<Uint8Array | undefined>
}

type EncodedRows = {
  readonly bytes: Uint8Array
  readonly notes?: readonly Json[]
  readonly rejected?: readonly Rejection[]
}

/** How a file is written. */
export type WriteOptions = {
  readonly format: WriteFormat
  /** Whether CSV and NDJSON are compressed. */
  readonly gzip: boolean
  /** Encoding of bytes in CSV and NDJSON; hexadecimal by default. */
  readonly binary?: BinaryForm
  /** Whether columns of Parquet have the declared types of the source; true by default. */
  readonly typed?: boolean
}

type Types = readonly (ColumnType | null)[] | undefined

/** @param types of the columns, if the source declares them */
export async function makeEncoder(
  { format, gzip: packed, binary = 'Hexadecimal', typed = true }: WriteOptions,
  columns: readonly string[],
  types: Types,
): Promise<Encoder> {
  if (format === 'Parquet') return makeParquetEncoder(columns, typed ? types : undefined)
  const pack = async (bytes: Uint8Array): Promise<Uint8Array> => (packed ? gzipPiece(bytes) : bytes)
  const inForm = binary === 'Base64' ? inBase64(types) : (rows: readonly Row[]) => rows
  if (format === 'NDJSON') {
    const nested = columns.map((_, index) => isJsonType(types?.[index]))
    return {
      encode: async (rows) => ({ bytes: await pack(encodeNdjson(columns, inForm(rows), nested)) }),
      // Not every store has files without a byte, so a file without rows is an empty line.
      end: async (_notes, offset) => (offset === 0 ? pack(Buffer.from('\n')) : undefined),
    }
  }
  return {
    encode: async (rows, offset) => {
      const lines = inForm(rows)
      return { bytes: await pack(encodeCsv(offset === 0 ? [columns, ...lines] : lines)) }
    },
    end: async (_notes, offset) => (offset === 0 ? pack(encodeCsv([columns])) : undefined),
  }
}

/** Writes the bytes of columns that hold bytes as Base64. */
function inBase64(types: Types): (rows: readonly Row[]) => readonly Row[] {
  const isBinary = types?.map((type) => type?.kind === 'bytes') ?? []
  if (!isBinary.includes(true)) return (rows) => rows
  return (rows) => rows.map((row) => row.map((cell, index) => (isBinary[index] ? base64Of(cell) : cell)))
}

function base64Of(cell: Cell): Cell {
  const digits = typeof cell === 'string' ? /^\\x((?:[0-9a-f]{2})*)$/i.exec(cell)?.[1] : undefined
  return digits === undefined ? cell : Buffer.from(digits, 'hex').toString('base64')
}

/** The library is loaded on demand, because most transfers do not need it. */
async function makeParquetEncoder(columns: readonly string[], types: Types): Promise<Encoder> {
  const { rowGroupWriter } = await import('@penstock/parquet/write')
  const { encode, end } = rowGroupWriter(columns, types)
  return {
    async encode(rows, offset) {
      const { bytes, notes, invalid } = encode(rows, offset)
      return { bytes, notes, ...(invalid.length > 0 && { rejected: invalid.map(rejectionOf) }) }
    },
    end: async (notes, offset) => end(notes as unknown as GroupNote[], offset),
  }
}

/** The rejection of a row that a column of Parquet cannot store. */
export const rejectionOf = ({ index, column, reason }: InvalidRow): Rejection => ({ index, field: column, reason })
