import type { Cell, RawColumn, RawLayout } from '@penstock/connector'
import { unescaped } from './tab-separated.ts'

/** Rows in the text format of PostgreSQL's COPY: lines with their line feeds. */

export const [tab, lineFeed] = [9, 10]
const [backslash, capitalN] = [92, 78]

/** How fields of such rows are found. */
export type CopyTextRows = {
  /** How many fields each row has. */
  readonly width: number
  /** Called for bytes that are not such a row; it throws. */
  readonly onBroken: () => never
}

/**
 * Calls a function with the text of some fields of a row, `null` for `\N`.
 * @param wanted indexes of the fields, in ascending order
 */
function readFields(
  { width, onBroken }: CopyTextRows,
  bytes: Buffer,
  from: number,
  to: number,
  wanted: readonly number[],
  call: (text: string | null, field: number) => void,
): void {
  const end = to - 1
  if (bytes[end] !== lineFeed) onBroken()
  /** The offset at which a field begins. */
  let at = from
  let field = 0
  for (let next = 0; next < wanted.length; next++) {
    const index = wanted[next] as number
    for (; field < index; field++) {
      at = endOfField(bytes, at, end) + 1
      if (at > end) onBroken()
    }
    const stop = endOfField(bytes, at, end)
    if ((index === width - 1) !== (stop === end)) onBroken()
    call(textIn(bytes, at, stop), index)
    at = stop + 1
    field = index + 1
  }
}

/** Finds where some fields of a row begin and end. @param into gets two offsets for each field */
export function fieldBounds(
  bytes: Buffer,
  from: number,
  to: number,
  wanted: readonly number[],
  into: Uint32Array,
): void {
  const end = to - 1
  let at = from
  let field = 0
  for (let next = 0; next < wanted.length; next++) {
    for (; field < (wanted[next] as number); field++) at = endOfField(bytes, at, end) + 1
    into[2 * next] = at
    at = endOfField(bytes, at, end)
    into[2 * next + 1] = at
    at++
    field++
  }
}

function endOfField(bytes: Buffer, from: number, end: number): number {
  let at = from
  while (at < end && bytes[at] !== tab) at++
  return at
}

/** A layout that also reads texts of fields, with the parameters of `readFields`. */
export type ReadableLayout = RawLayout & {
  readonly read: (
    bytes: Buffer,
    from: number,
    to: number,
    wanted: readonly number[],
    call: (text: string | null, field: number) => void,
  ) => void
}

/** @param cellOf makes a cell of the text of a column */
export const copyTextLayout = (
  rows: CopyTextRows,
  columns: readonly RawColumn[],
  cellOf: (text: string | null, column: number) => Cell,
): ReadableLayout => ({
  format: 'copy-text',
  columns,
  read: (...given) => readFields(rows, ...given),
  open(bytes, from, to, wanted, into) {
    readFields(rows, bytes, from, to, wanted, (text, column) => {
      into[column] = cellOf(text, column)
    })
  },
})

function textIn(bytes: Buffer, from: number, to: number): string | null {
  for (let at = from; at < to; at++) {
    if (bytes[at] !== backslash) continue
    if (to - from === 2 && bytes[from + 1] === capitalN) return null
    return unescaped(bytes.toString('utf8', from, to))
  }
  return bytes.toString('utf8', from, to)
}
