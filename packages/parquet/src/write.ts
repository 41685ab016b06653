import { ByteWriter, ParquetWriter } from 'hyparquet-writer'
import type { Row } from './rows.ts'

/**
 * Writing Parquet. All columns are optional UTF-8 text: what a column holds is not known when its first rows are
 * written, and a guess from them would reject later rows or give each transfer's file another schema.
 */

type RowGroup = InstanceType<typeof ParquetWriter>['row_groups'][number]
type ColumnChunk = RowGroup['columns'][number]
type ColumnMeta = NonNullable<ColumnChunk['meta_data']>

/** Metadata of a row group for the end of the file; short, because it is stored with every delivery. */
export type GroupNote = {
  readonly rows: number
  /** For each column: encodings, bytes unpacked and packed, offsets of its data and its dictionary (0: it has none). */
  readonly columns: readonly (readonly [string, number, number, number, number])[]
}

const schemaOf = (columns: readonly string[]) => [
  { name: 'root', num_children: columns.length },
  ...columns.map((name) => ({
    name,
    type: 'BYTE_ARRAY' as const,
    converted_type: 'UTF8' as const,
    logical_type: { type: 'STRING' as const },
    repetition_type: 'OPTIONAL' as const,
  })),
]

/** `PAR1`, with which a file begins and ends. */
const markBytes = 4

/** A writer whose first byte is at an offset of a file; it writes the mark first, which belongs to the beginning alone. */
function writerAt(columns: readonly string[], offset: number) {
  const bytes = new ByteWriter(1 << 20)
  if (offset > 0) bytes.offset = offset - markBytes
  const writer = new ParquetWriter({
    writer: bytes,
    schema: schemaOf(columns),
    statistics: false,
    createdBy: 'penstock',
  })
  return { writer, written: () => bytes.getBytes().slice(offset > 0 ? markBytes : 0) }
}

/** Larger groups take the library longer, and several times as much memory as their rows. */
const groupRowsMax = 20_000

/** Rows as row groups at an offset of the file. */
export function encodeRowGroups(
  columns: readonly string[],
  rows: readonly Row[],
  offset: number,
): { bytes: Uint8Array; notes: GroupNote[] } {
  const { writer, written } = writerAt(columns, offset)
  const columnData = columns.map((name, index) => ({
    name,
    data: rows.map((row) => {
      const cell = row[index] ?? null
      return cell === null || typeof cell === 'string' ? cell : String(cell)
    }),
    offsetIndex: false,
  }))
  writer.write({ columnData, rowGroupSize: groupRowsMax })
  const notes = writer.row_groups.map(({ num_rows, columns: chunks }) => ({
    rows: Number(num_rows),
    columns: chunks.map(noteOf),
  }))
  return { bytes: written(), notes }
}

/** The end of a file that has these groups. */
export function encodeFooter(columns: readonly string[], notes: readonly GroupNote[], offset: number): Uint8Array {
  const { writer, written } = writerAt(columns, offset)
  writer.row_groups = notes.map((note) => groupOf(columns, note))
  writer.num_rows = notes.reduce((sum, { rows }) => sum + BigInt(rows), 0n)
  writer.finish()
  return written()
}

function noteOf({ meta_data: meta }: ColumnChunk): GroupNote['columns'][number] {
  if (!meta) throw new Error('a column was written without its metadata')
  return [
    meta.encodings.join(' '),
    Number(meta.total_uncompressed_size),
    Number(meta.total_compressed_size),
    Number(meta.data_page_offset),
    Number(meta.dictionary_page_offset ?? 0),
  ]
}

function groupOf(columns: readonly string[], { rows, columns: notes }: GroupNote): RowGroup {
  const chunks = notes.map(([encodings, unpacked, packed, dataOffset, dictionaryOffset], index): ColumnChunk => {
    const meta: ColumnMeta = {
      type: 'BYTE_ARRAY',
      encodings: encodings.split(' ') as ColumnMeta['encodings'],
      path_in_schema: [columns[index] ?? ''],
      codec: 'SNAPPY',
      num_values: BigInt(rows),
      total_uncompressed_size: BigInt(unpacked),
      total_compressed_size: BigInt(packed),
      data_page_offset: BigInt(dataOffset),
      ...(dictionaryOffset > 0 ? { dictionary_page_offset: BigInt(dictionaryOffset) } : {}),
    }
    return { file_offset: BigInt(dictionaryOffset || dataOffset), meta_data: meta }
  })
  const sum = (of: 1 | 2) => BigInt(notes.reduce((total, note) => total + note[of], 0))
  return { columns: chunks, total_byte_size: sum(1), num_rows: BigInt(rows), total_compressed_size: sum(2) }
}
