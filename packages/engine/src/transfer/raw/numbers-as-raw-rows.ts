import { type Cell, type RawLayout, RawRows, type Row, rawOf } from '@penstock/connector'

/** Raw rows of one column of numbers, for tests. */

/** The text of each number. */
const layoutOf = (cellOf: (number: string) => Cell): RawLayout => ({
  format: 'copy-text',
  columns: [{ name: 'number', type: { id: 20, modifier: -1 }, isShown: false, isPresent: true }],
  open(bytes, from, to, _columns, into) {
    into[0] = cellOf(bytes.toString('latin1', from, to))
  },
})
const sourceLayout = layoutOf(Number)
const mappedLayout = layoutOf((number) => `mapped ${number}`)

/** The rows of some numbers. */
export function rawRowsOf(numbers: readonly number[]): readonly Row[] {
  const lines = numbers.map((number) => String(number))
  const bounds = new Uint32Array(lines.length + 1)
  for (const [i, line] of lines.entries()) bounds[i + 1] = (bounds[i] as number) + line.length
  const piece = { bytes: Buffer.from(lines.join('')), bounds, from: 0, until: lines.length }
  return new RawRows(sourceLayout, [piece]).rows
}

/** The same rows with other values: raw rows stay raw rows. */
export const mappedRows = (rows: readonly Row[]): readonly Row[] => {
  const raw = rawOf(rows)
  return raw ? new RawRows(mappedLayout, raw.pieces).rows : rows.map(([number]) => [`mapped ${number}`])
}
