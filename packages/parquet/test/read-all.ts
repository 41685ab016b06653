import {
  openParquet,
  type ParquetPiece,
  type ParquetPlace,
  type ParquetSource,
  type Row,
  type RowLimits,
} from '../src/read.ts'

/** Limits on rows, as connectors set them. */
export const limits: RowLimits = {
  cellBytes: 8 << 20,
  rowBytes: 16 << 20,
  nestingLevels: 100,
  pieceCells: 500_000,
  pieceChars: 4 << 20,
  rowErrors: { cellTooLong: 'The row has a long value.', rowTooLong: 'The row is long.' },
}

/** A file in memory. */
export function memorySource(content: Buffer): ParquetSource {
  const read = async (start: number, end: number) => content.subarray(start, end)
  return { sizeBytes: content.length, readRange: read, readNext: read }
}

/** All pieces and rows of a file, from its beginning or from a place, which comes back as it was stored. */
export async function readAll(
  content: Buffer,
  { chunkBytes = 1 << 20, from }: { chunkBytes?: number; from?: ParquetPlace } = {},
): Promise<{ pieces: ParquetPiece[]; rows: Row[] }> {
  const file = await openParquet(memorySource(content), { limits, chunkBytes })
  const pieces: ParquetPiece[] = []
  for await (const piece of file.read(from && JSON.parse(JSON.stringify(from)))) pieces.push(piece)
  return { pieces, rows: pieces.flatMap(({ rows }) => rows) }
}
