import type { Cell, Row } from '../rows.ts'
import type { ParsedRows } from './text-rows.ts'

/** How the rows of a CSV file are written. */
export type CsvDialect = {
  /** One character. */
  readonly delimiter: string
  /** What ends a row; before `\n` there may be a `\r`. */
  readonly newline: '\n' | '\r'
}

/**
 * Reads the rows of a text. Cells are text; one without anything between its delimiters is null, `""` is empty text.
 * Lines without anything in them are left out. A quote inside of a cell that does not begin with one is a character.
 * @param width how many cells a row must have; 0: any number, and rows keep what they have
 * @param ended whether the text is the end of the file: its last row then needs nothing that ends it
 */
export function parseCsv(text: string, dialect: CsvDialect, width: number, ended: boolean): ParsedRows {
  const { delimiter, newline } = dialect
  const rows: Row[] = []
  const faults = new Map<number, string>()
  const { length } = text
  let at = 0
  let quote = text.indexOf('"')
  let next = text.indexOf(delimiter)
  while (at < length) {
    let end = text.indexOf(newline, at)
    if (end === -1) {
      if (!ended) break
      end = length
    }
    if (quote !== -1 && quote < at) quote = text.indexOf('"', at)
    if (quote !== -1 && quote < end) {
      const row = parseQuotedRow(text, at, dialect, ended)
      if (!row) break
      if (row.fault) faults.set(rows.length, row.fault)
      pushRow(rows, faults, row.cells, width)
      at = row.after
      if (next !== -1 && next < at) next = text.indexOf(delimiter, at)
      continue
    }
    const stop = end > at && newline === '\n' && text.charCodeAt(end - 1) === 13 ? end - 1 : end
    if (stop > at) {
      // Nearly all rows go this way, so it is written for speed: no look at single characters, no array that grows.
      const cells: Cell[] = new Array(width)
      let count = 0
      while (next !== -1 && next < stop) {
        cells[count] = next === at ? null : text.substring(at, next)
        count += 1
        at = next + 1
        next = text.indexOf(delimiter, at)
      }
      cells[count] = stop === at ? null : text.substring(at, stop)
      count += 1
      if (count === width) {
        rows.push(cells)
      } else {
        cells.length = count
        pushRow(rows, faults, cells, width)
      }
    }
    at = end + 1
  }
  return { rows, faults, consumed: Math.min(at, length) }
}

/** Adds a row, with as many cells as it should have. */
function pushRow(rows: Row[], faults: Map<number, string>, cells: Cell[], width: number): void {
  if (width > 0 && cells.length !== width) {
    // Cells too many with nothing in them are what spreadsheets leave behind, and tell nothing.
    const surplus = cells.slice(width).some((cell) => cell !== null)
    if ((cells.length < width || surplus) && !faults.has(rows.length)) {
      faults.set(rows.length, `The row has ${countOf(cells.length)}, and the header has ${width}.`)
    }
    while (cells.length < width) cells.push(null)
    cells.length = width
  }
  rows.push(cells)
}

const countOf = (cells: number): string => (cells === 1 ? '1 value' : `${cells} values`)

type QuotedRow = { cells: Cell[]; fault?: string; after: number }

/**
 * Reads one row that has a quote somewhere. A row with wrong quotes ends where its line ends, so that it does not take
 * the rows behind it along.
 * @returns undefined where the row goes on behind the text
 */
function parseQuotedRow(text: string, start: number, dialect: CsvDialect, ended: boolean): QuotedRow | undefined {
  const { delimiter, newline } = dialect
  const cells: Cell[] = []
  let at = start
  for (;;) {
    if (text[at] === '"') {
      const close = closingQuote(text, at + 1)
      if (close === -1) {
        return ended ? wrongRow(text, start, dialect, 'The row has a quote that is never closed.') : undefined
      }
      const inside = text.slice(at + 1, close)
      cells.push(inside.includes('"') ? inside.replaceAll('""', '"') : inside)
      at = close + 1
      // What follows the last character may be a second quote or the end of the row.
      if (at >= text.length && !ended) return undefined
    } else {
      const end = endOfCell(text, at, dialect)
      if (end === -1) {
        if (!ended) return undefined
        cells.push(at === text.length ? null : text.slice(at))
        return { cells, after: text.length }
      }
      const stop = newline === '\n' && text[end] === '\n' && end > at && text[end - 1] === '\r' ? end - 1 : end
      cells.push(stop === at ? null : text.slice(at, stop))
      at = end
    }
    if (newline === '\n' && text[at] === '\r' && (text[at + 1] === '\n' || at + 1 === text.length)) {
      if (at + 1 === text.length && !ended) return undefined
      at += 1
    }
    if (at >= text.length) return { cells, after: text.length }
    if (text[at] === newline) return { cells, after: at + 1 }
    if (text[at] !== delimiter) return wrongRow(text, start, dialect, 'The row has characters behind a closing quote.')
    at += 1
  }
}

/** Where the quote is that closes a cell; -1: nowhere in the text. */
function closingQuote(text: string, from: number): number {
  for (let at = text.indexOf('"', from); at !== -1; at = text.indexOf('"', at + 2)) {
    if (text[at + 1] !== '"') return at
  }
  return -1
}

/** The next delimiter or end of a row. */
function endOfCell(text: string, from: number, { delimiter, newline }: CsvDialect): number {
  const line = text.indexOf(newline, from)
  const stop = text.indexOf(delimiter, from)
  if (stop === -1 || (line !== -1 && line < stop)) return line
  return stop
}

function wrongRow(text: string, start: number, { newline }: CsvDialect, fault: string): QuotedRow {
  const end = text.indexOf(newline, start)
  return { cells: [], fault, after: end === -1 ? text.length : end + 1 }
}
