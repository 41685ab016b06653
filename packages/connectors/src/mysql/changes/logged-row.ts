import type { ByteReader } from './bytes.ts'
import { type Charset, readValue, unread } from './row-values.ts'
import type { LoggedColumn } from './table-map.ts'

/** How a column of an event is read. */
export type DecodedColumn = {
  readonly column: LoggedColumn
  readonly charset: Charset | undefined
  /** Name in the table as it is now; absent if it has no such column, or one of another type. */
  readonly name: string | undefined
  /** How many digits the text of a number has at least. */
  readonly width: number
  /** Whether it says how long the version of the row is valid. */
  readonly isRowEnd: boolean
}

/** A row of the log. */
export type LoggedRow = {
  readonly values: Map<string, string | null>
  /** When its version ends, of a system-versioned table; `undefined` if the log does not say it. */
  readonly rowEnd: string | undefined
}

/** @param before of the row after an update: has what it leaves out because it has not changed */
export function rowIn(
  reader: ByteReader,
  columns: readonly DecodedColumn[],
  sent: Buffer,
  before?: LoggedRow,
): LoggedRow {
  let rowEnd = before?.rowEnd
  const values = new Map<string, string | null>()
  const isIn = (bits: Buffer, at: number) => ((bits[at >> 3] ?? 0) & (1 << (at & 7))) !== 0
  const count = columns.reduce((sum, _, at) => sum + (isIn(sent, at) ? 1 : 0), 0)
  const nulls = reader.bytes(Math.ceil(count / 8))
  let place = 0
  for (const [at, { column, charset, name, width, isRowEnd }] of columns.entries()) {
    if (!isIn(sent, at)) {
      const value = name === undefined ? undefined : before?.values.get(name)
      if (name !== undefined && value !== undefined) values.set(name, value)
      continue
    }
    const value = isIn(nulls, place) ? null : readValue(reader, column, charset)
    place += 1
    if (isRowEnd && value !== unread) rowEnd = value ?? undefined
    if (name !== undefined && value !== unread) values.set(name, value?.padStart(width, '0') ?? null)
  }
  return { values, rowEnd }
}
