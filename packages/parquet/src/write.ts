import { ByteWriter, ParquetWriter } from 'hyparquet-writer'
import type { ColumnType } from './column-types.ts'
import type { Row } from './rows.ts'
import type { StoredValue } from './stored.ts'
import { elementsOf, type Leaf, leavesOf, type StoredColumn, storedColumn } from './stored-nested.ts'

/**
 * Writes Parquet. All columns are optional. They have the types that the source declares. The content of a column is not known
 * when its first rows are written. A guess from these rows would reject later rows, or each transfer's file would have another
 * schema. Columns without a declared type are UTF-8 text.
 */

type RowGroup = InstanceType<typeof ParquetWriter>['row_groups'][number]
type ColumnChunk = RowGroup['columns'][number]
type ColumnMeta = NonNullable<ColumnChunk['meta_data']>

/** Metadata of a row group for the end of the file. It is short, because it is stored with every delivery. */
export type GroupNote = {
  readonly rows: number
  /**
   * For each leaf of the columns: encodings, unpacked and packed bytes, offsets of its data and its dictionary (0: no
   * dictionary), and for a leaf within a column its number of values. The encodings are one text in a file with only texts.
   * Version 0.1.0 writes only such files, and fails at a list instead of completing a file with types.
   */
  readonly columns: readonly (readonly [string | readonly string[], number, number, number, number, ...number[]])[]
}

/** A row that a typed column cannot hold: its index, the column, and why, as a sentence without its values. */
export type InvalidRow = { readonly index: number; readonly column: string; readonly reason: string }

/** Writes the row groups and the end of files with the same columns. */
export type RowGroupWriter = {
  /**
   * The rows that `encode` omits, because a column cannot store one of their values exactly. Returns the first such column of
   * each row.
   */
  invalid(rows: readonly Row[]): readonly InvalidRow[]
  /** Rows as row groups at an offset of the file, without the invalid ones. */
  encode(
    rows: readonly Row[],
    offset: number,
  ): { bytes: Uint8Array; notes: GroupNote[]; invalid: readonly InvalidRow[] }
  /** The end of a file that has these groups. */
  end(notes: readonly GroupNote[], offset: number): Uint8Array
}

/** @param types of the columns, in their order; `undefined` if no column has a type */
export function rowGroupWriter(
  columns: readonly string[],
  types: readonly (ColumnType | null)[] | undefined,
): RowGroupWriter {
  const stored = columns.map((_, index) => storedColumn(types?.[index] ?? null))
  const leaves = columns.flatMap((name, index) => leavesOf(name, stored[index] as StoredColumn))
  const isTyped = types?.some((type) => type !== null) ?? false
  return {
    invalid: (rows) => convertRows(columns, stored, rows).invalid,
    encode(rows, offset) {
      const { data, invalid } = convertRows(columns, stored, rows)
      const { writer, written } = writerAt(columns, stored, offset, false)
      const columnData = columns.map((name, index) => ({ name, data: data[index] ?? [], offsetIndex: false }))
      if (rows.length > invalid.length) writer.write({ columnData, rowGroupSize: groupRowsMax })
      const notes = writer.row_groups.map(({ num_rows, columns: chunks }) => ({
        rows: Number(num_rows),
        columns: chunks.map((chunk, index) => noteOf(chunk, isTyped, leaves[index] as Leaf)),
      }))
      return { bytes: written(), notes, invalid }
    },
    end(notes, offset) {
      const { writer, written } = writerAt(columns, stored, offset, true)
      writer.row_groups = notes.map((note) => groupOf(leaves, note))
      writer.num_rows = notes.reduce((sum, { rows }) => sum + BigInt(rows), 0n)
      writer.finish()
      return written()
    },
  }
}

/** The values of each column in their stored form, without invalid rows. */
function convertRows(
  columns: readonly string[],
  stored: readonly StoredColumn[],
  rows: readonly Row[],
): { data: StoredValue[][]; invalid: readonly InvalidRow[] } {
  const invalid = new Map<number, InvalidRow>()
  const data = stored.map(({ storedOf, needed }, at) =>
    rows.map((row, index) => {
      const cell = row[at] ?? null
      const value = cell === null ? null : storedOf(cell)
      if (value !== undefined) return value
      const reason = `A value is not ${needed}, which the column requires.`
      if (!invalid.has(index)) invalid.set(index, { index, column: columns[at] ?? '', reason })
      return null
    }),
  )
  if (invalid.size === 0) return { data, invalid: [] }
  return {
    data: data.map((values) => values.filter((_, index) => !invalid.has(index))),
    invalid: [...invalid.values()].sort((a, b) => a.index - b.index),
  }
}

const schemaOf = (columns: readonly string[], stored: readonly StoredColumn[], isEnd: boolean) => [
  { name: 'root', num_children: columns.length },
  ...columns.flatMap((name, index) => elementsOf(name, stored[index] as StoredColumn, isEnd)),
]

/** `PAR1`, with which a file begins and ends. */
const markBytes = 4

/**
 * A writer whose first byte is at an offset of a file. It writes the mark first, which must be only at the beginning of the file.
 */
function writerAt(columns: readonly string[], stored: readonly StoredColumn[], offset: number, isEnd: boolean) {
  const bytes = new ByteWriter(1 << 20)
  if (offset > 0) bytes.offset = offset - markBytes
  const writer = new ParquetWriter({
    writer: bytes,
    schema: schemaOf(columns, stored, isEnd),
    statistics: false,
    createdBy: 'penstock',
  })
  return { writer, written: () => bytes.getBytes().slice(offset > 0 ? markBytes : 0) }
}

/** The library needs more time for larger groups, and several times as much memory as their rows. */
const groupRowsMax = 20_000

function noteOf({ meta_data: meta }: ColumnChunk, isTyped: boolean, { isNested }: Leaf): GroupNote['columns'][number] {
  if (!meta) throw new Error('a column was written without its metadata')
  const note = [
    isTyped ? meta.encodings : meta.encodings.join(' '),
    Number(meta.total_uncompressed_size),
    Number(meta.total_compressed_size),
    Number(meta.data_page_offset),
    Number(meta.dictionary_page_offset ?? 0),
  ] as const
  return isNested ? [...note, Number(meta.num_values)] : note
}

function groupOf(leaves: readonly Leaf[], { rows, columns: notes }: GroupNote): RowGroup {
  const chunks = notes.map((note, index): ColumnChunk => {
    const [encodings, unpacked, packed, dataOffset, dictionaryOffset, values = rows] = note
    const { leaf, path } = leaves[index] as Leaf
    const meta: ColumnMeta = {
      type: leaf.element.type,
      encodings: (typeof encodings === 'string' ? encodings.split(' ') : encodings) as ColumnMeta['encodings'],
      path_in_schema: [...path],
      codec: 'SNAPPY',
      num_values: BigInt(values),
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
