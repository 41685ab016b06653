import { RowNumbers } from '../row-places.ts'
import type { Cell, Row } from '../rows.ts'
import type { ParsedRows } from './text-rows.ts'

/** How the rows of a CSV file are written. */
export type CsvDialect = {
  /** One character. */
  readonly delimiter: string
  /** End of a row; a `\r` can precede `\n`. */
  readonly newline: '\n' | '\r'
  /** Whether rows can omit their last cells, which are then null. */
  readonly short?: boolean
}

/**
 * Reads the rows of a text. Cells are text. A cell without characters is null, and `""` is empty text. Empty lines are skipped,
 * except in a file with one column, where an empty line is a row with a null cell. A quote inside a cell that does not begin with
 * a quote is a character. The time is proportional to the text.
 * @param width required cells of a row; 0: any number, and rows keep their cells
 * @param ended whether the text is the end of the file: its last row then needs no end of line
 * @param rowsMax maximum rows
 */
export function parseCsv(
  text: string,
  dialect: CsvDialect,
  width: number,
  ended: boolean,
  rowsMax: number = Number.POSITIVE_INFINITY,
): ParsedRows {
  const { delimiter, newline } = dialect
  const rows: Row[] = []
  const errors = new Map<number, string>()
  const lines = new RowNumbers(0)
  const { length } = text
  const emptyLine = width === 1 ? -1 : newline.charCodeAt(0)
  const cellsMax = width > 0 ? width : Number.POSITIVE_INFINITY
  let at = 0
  let quote = text.indexOf('"')
  let next = text.indexOf(delimiter)
  while (at < length && rows.length < rowsMax) {
    if (text.charCodeAt(at) === emptyLine) {
      lines.skip(rows.length, 1)
      at += 1
      continue
    }
    let end = text.indexOf(newline, at)
    if (end === -1) {
      if (!ended) break
      end = length
    }
    if (quote !== -1 && quote < at) quote = text.indexOf('"', at)
    if (quote !== -1 && quote < end) {
      if (next !== -1 && next < at) next = text.indexOf(delimiter, at)
      const marks = { delimiter: next, line: end === length ? -1 : end }
      const row = parseQuotedRow(text, at, dialect, ended, marks, cellsMax)
      if (!row) break
      if (row.error) errors.set(rows.length, row.error)
      pushRow(rows, errors, row.cells, row.count, row.surplus, width, dialect.short)
      // Only a row that ends behind its first line break has others inside it.
      for (let inner = end; inner + 1 < row.after; lines.skip(rows.length, 1)) {
        inner = text.indexOf(newline, inner + 1)
        if (inner === -1 || inner >= row.after) break
      }
      at = row.after
      next = row.delimiter
      if (next !== -1 && next < at) next = text.indexOf(delimiter, at)
      continue
    }
    const stop = end > at && newline === '\n' && text.charCodeAt(end - 1) === 13 ? end - 1 : end
    if (stop > at || width === 1) {
      // Nearly all rows use this path, so it is written for speed: it checks no single characters, and grows no array.
      const cells: Cell[] = new Array(width)
      let count = 0
      while (next !== -1 && next < stop && count !== cellsMax) {
        cells[count] = next === at ? null : text.substring(at, next)
        count += 1
        at = next + 1
        next = text.indexOf(delimiter, at)
      }
      if (count === cellsMax) {
        const surplus = readSurplus(text, at, next, stop, delimiter)
        if (surplus.found) errors.set(rows.length, wrongCount(count + surplus.count, width))
        next = surplus.next
        rows.push(cells)
      } else {
        cells[count] = stop === at ? null : text.substring(at, stop)
        count += 1
        if (count === width) {
          rows.push(cells)
        } else {
          cells.length = count
          pushRow(rows, errors, cells, count, false, width, dialect.short)
        }
      }
    } else lines.skip(rows.length, 1)
    at = end + 1
  }
  return { rows, errors, consumed: Math.min(at, length), lines }
}

/** Counts the surplus cells of a row without keeping them, and whether one of them has a value. */
function readSurplus(text: string, from: number, first: number, stop: number, delimiter: string) {
  let found = false
  let count = 1
  let at = from
  let next = first
  while (next !== -1 && next < stop) {
    if (next > at) found = true
    count += 1
    at = next + 1
    next = text.indexOf(delimiter, at)
  }
  return { found: found || stop > at, count, next }
}

/**
 * Adds a row with the required number of cells. Empty surplus cells come from spreadsheets, and mean nothing.
 * @param surplus whether one of the surplus cells has a value
 */
function pushRow(
  rows: Row[],
  errors: Map<number, string>,
  cells: Cell[],
  count: number,
  surplus: boolean,
  width: number,
  short = false,
): void {
  if (((count < width && !short) || surplus) && !errors.has(rows.length))
    errors.set(rows.length, wrongCount(count, width))
  while (cells.length < width) cells.push(null)
  rows.push(cells)
}

const wrongCount = (count: number, width: number): string =>
  `The row has ${count === 1 ? '1 value' : `${count} values`}, but the header has ${width}.`

/** The next delimiter and the next end of a line; -1 if the rest of the text has none. */
type Marks = { delimiter: number; line: number }

type QuotedRow = {
  /** Its cells, no more of them than there should be. */
  readonly cells: Cell[]
  readonly count: number
  readonly surplus: boolean
  readonly error?: string | undefined
  readonly after: number
  /** A delimiter from which the search continues. There is no other delimiter between it and the row. */
  readonly delimiter: number
}

/**
 * Reads one row that contains a quote. A row with wrong quotes ends at the end of its line, so that it does not include the
 * following rows.
 * @param marks the next marks after `start`; each is searched again only after reading has passed it
 * @returns undefined if the row continues after the end of the text
 */
function parseQuotedRow(
  text: string,
  start: number,
  dialect: CsvDialect,
  ended: boolean,
  marks: Marks,
  cellsMax: number,
): QuotedRow | undefined {
  const { newline } = dialect
  const delimiter = dialect.delimiter.charCodeAt(0)
  const lineEnd = newline.charCodeAt(0)
  const { length } = text
  const { delimiter: firstDelimiter, line: firstLine } = marks
  const cells: Cell[] = []
  let count = 0
  let surplus = false
  let error: string | undefined
  let at = start
  for (;;) {
    let cell: Cell
    if (text.charCodeAt(at) === quoteCode) {
      let close = text.indexOf('"', at + 1)
      let doubled = false
      while (close !== -1 && text.charCodeAt(close + 1) === quoteCode) {
        doubled = true
        close = text.indexOf('"', close + 2)
      }
      if (close === -1) {
        if (!ended) return undefined
        error = 'The row has a quote that is never closed.'
        break
      }
      cell = text.substring(at + 1, close)
      if (doubled) cell = cell.replaceAll('""', '"')
      at = close + 1
      // After the last character, a second quote or the end of the row can follow.
      if (at >= length && !ended) return undefined
    } else {
      let end = endOfCell(text, at, dialect, marks)
      if (end === -1) {
        if (!ended) return undefined
        end = length
      }
      const returns = newline === '\n' && end < length && text.charCodeAt(end) === lineEnd
      const stop = returns && end > at && text.charCodeAt(end - 1) === returnCode ? end - 1 : end
      cell = stop === at ? null : text.slice(at, stop)
      at = end
    }
    if (count < cellsMax) cells.push(cell)
    else if (cell !== null) surplus = true
    count += 1
    if (at < length && newline === '\n' && text.charCodeAt(at) === returnCode) {
      if (at + 1 === length && !ended) return undefined
      if (at + 1 === length || text.charCodeAt(at + 1) === lineEnd) at += 1
    }
    if (at >= length) return { cells, count, surplus, after: length, delimiter: marks.delimiter }
    const behind = text.charCodeAt(at)
    if (behind === lineEnd) return { cells, count, surplus, after: at + 1, delimiter: marks.delimiter }
    if (behind !== delimiter) {
      error = 'The row has characters after a closing quote.'
      break
    }
    at += 1
  }
  const after = firstLine === -1 ? length : firstLine + 1
  return { cells: [], count: 0, surplus: false, error, after, delimiter: firstDelimiter }
}

const quoteCode = 34
const returnCode = 13

/** The next delimiter or end of a row. */
function endOfCell(text: string, from: number, { delimiter, newline }: CsvDialect, marks: Marks): number {
  if (marks.line !== -1 && marks.line < from) marks.line = text.indexOf(newline, from)
  if (marks.delimiter !== -1 && marks.delimiter < from) marks.delimiter = text.indexOf(delimiter, from)
  const { line, delimiter: stop } = marks
  if (stop === -1 || (line !== -1 && line < stop)) return line
  return stop
}
