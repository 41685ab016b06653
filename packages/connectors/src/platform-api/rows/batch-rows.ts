import type { Batch, Row } from '@penstock/connector'

/** The cells of a batch by the names of their columns. */
export type BatchRow = {
  /** From 0, within the batch. */
  readonly index: number
  /** The value as text without surrounding blanks. `undefined` if it is missing. */
  text(column: string): string | undefined
}

/** Goes through the rows of a batch. */
export function* rowsOf({ columns, rows }: Pick<Batch, 'columns' | 'rows'>): Generator<BatchRow> {
  const places = new Map(columns.map((column, place) => [column, place]))
  for (const [index, row] of rows.entries()) yield { index, text: (column) => textAt(row, places.get(column)) }
}

function textAt(row: Row, place: number | undefined): string | undefined {
  const cell = place === undefined ? undefined : row[place]
  if (cell === undefined || cell === null) return undefined
  return String(cell).trim() || undefined
}

/** Whether a text is a SHA-256 digest as platforms take it. */
export const isSha256 = (text: string): boolean => /^[0-9a-f]{64}$/.test(text)
