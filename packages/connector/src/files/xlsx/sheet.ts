import type { Cell } from '../../rows.ts'
import { bounds, isTooLong, mebibytes, outOfBounds, rowErrors } from '../bounds.ts'
import { isInexact } from '../exact-json.ts'
import type { StoredFile } from '../store.ts'
import { damaged, WorkbookDamage } from './damage.ts'
import { type NumberKind, timeOf } from './number-formats.ts'
import { type SharedTexts, unescaped } from './texts.ts'
import type { Workbook, WorkbookSheet } from './workbook.ts'
import { attributeOf, type OpenTag, readXml, type XmlHandler } from './xml.ts'

/** A row of a sheet that has a value. */
export type SheetRow = {
  /** Its number in the sheet, from 1 on. */
  readonly number: number
  /** Its values, by their columns. Columns without a value are holes, or after the end. */
  readonly cells: Cell[]
  /** The error of the row. */
  readonly error?: string | undefined
}

/** A cell as it is written. */
type StoredCell = { column: number; type: string; style: number; value: string; isFormula: boolean; hasValue: boolean }
type StoredRow = { readonly number: number; readonly cells: StoredCell[] }

/** Columns that a sheet can have: XFD is the last. */
const columnsMax = 16_384

/**
 * Reads the rows of a sheet that have a value, some at a time, from its first one on.
 * @throws a `ConnectorError` if the workbook is damaged or breaks a bound
 */
export async function* readSheet(
  file: StoredFile,
  book: Workbook,
  sheet: WorkbookSheet,
): AsyncGenerator<Generator<SheetRow>> {
  const { zip } = book
  zip.begin()
  const [texts, styles] = [await book.texts(), await book.styles()]
  const parsed: StoredRow[] = []
  const take = function* (): Generator<SheetRow> {
    for (const stored of parsed) {
      const row = named(file, () => rowOf(stored, texts, styles, book.from1904, zip.spend))
      if (row) yield row
    }
    parsed.length = 0
  }
  try {
    for await (const _step of readXml(zip.read(sheet.part), sheetHandler(file, parsed))) {
      void _step
      if (parsed.length > 0) yield take()
    }
  } catch (error) {
    throw error instanceof WorkbookDamage ? damaged(file, error) : error
  }
}

/** Adds the name of the file to errors about damage. */
function named<Result>(file: StoredFile, work: () => Result): Result {
  try {
    return work()
  } catch (error) {
    throw error instanceof WorkbookDamage ? damaged(file, error) : error
  }
}

/** Collects the rows of a sheet. */
function sheetHandler(file: StoredFile, rows: StoredRow[]): XmlHandler {
  let inData = false
  let row: StoredRow | undefined
  let cell: StoredCell | undefined
  let number = 0
  let column = 0
  let chars = 0
  let inValue = false
  let inReading = false
  const openRow = (tag: OpenTag) => {
    const written = attributeOf(tag, 'r')
    number = written === undefined ? number + 1 : Number(written)
    if (!Number.isSafeInteger(number) || number < 1) throw new WorkbookDamage('a row without a number')
    column = 0
    chars = 0
    row = { number, cells: [] }
  }
  const openCell = (tag: OpenTag) => {
    const { r: reference, t: type = 'n', s: style = '0' } = tag.attributes
    column = reference === undefined ? column + 1 : columnOf(reference)
    if (column < 1 || column > columnsMax || (row?.cells.length ?? 0) >= columnsMax) {
      throw new WorkbookDamage('a cell without a column')
    }
    cell = { column, type, style: Number(style), value: '', isFormula: false, hasValue: false }
    row?.cells.push(cell)
  }
  return {
    open(tag) {
      switch (tag.name) {
        case 'sheetData':
          inData = true
          break
        case 'row':
          if (inData) openRow(tag)
          break
        case 'c':
          if (row) openCell(tag)
          break
        case 'f':
          if (cell) cell.isFormula = true
          break
        case 'rPh':
          inReading = true
          break
        case 'v':
        case 't':
          inValue = cell !== undefined && !inReading
          if (cell && inValue) cell.hasValue = true
          break
      }
    },
    close(name) {
      if (name === 'v' || name === 't') inValue = false
      else if (name === 'rPh') inReading = false
      else if (name === 'c') cell = undefined
      else if (name === 'sheetData') inData = false
      else if (name === 'row' && row) {
        if (row.cells.length > 0) rows.push(row)
        row = undefined
      }
    },
    text(text) {
      if (!inValue || !cell) return
      cell.value += text
      chars += text.length
      if (chars > bounds.rowBytes) throw rowTooLong(file)
    },
  }
}

const rowTooLong = ({ name }: StoredFile) =>
  outOfBounds('row_too_large', name, `has a row of more than ${mebibytes(bounds.rowBytes)}`, 'Shorten its texts.')

/** Column of a reference such as `BC12`, from 1; 0 if it is invalid. */
function columnOf(reference: string): number {
  let column = 0
  for (let at = 0; at < reference.length && at < 4; at += 1) {
    const code = reference.charCodeAt(at)
    if (code < 65 || code > 90) break
    column = column * 26 + code - 64
  }
  return column
}

/** Name of a column, from 1 on: `BC`. */
export function columnName(column: number): string {
  let name = ''
  for (let left = column; left > 0; left = Math.floor((left - 1) / 26)) {
    name = String.fromCharCode(65 + ((left - 1) % 26)) + name
  }
  return name
}

/** Creates a row from its cells; `undefined` if no cell has a value. */
function rowOf(
  { number, cells: stored }: StoredRow,
  texts: SharedTexts,
  styles: readonly NumberKind[],
  from1904: boolean,
  spend: (chars: number) => void,
): SheetRow | undefined {
  const cells: Cell[] = []
  let error: string | undefined
  let isEmpty = true
  let bytes = 0
  for (const cell of stored) {
    bytes += cell.type === 's' ? texts.bytesOf(Number(cell.value)) : cell.value.length
    if (bytes > bounds.rowBytes) return { number, cells: [], error: rowErrors.rowTooLong }
    const value = cellOf(cell, texts, styles, from1904)
    if (value instanceof CellError) error ??= `The cell ${columnName(cell.column)}${number} ${value.says}`
    // Cells without text and cells with an empty text look the same, and formulas produce the latter.
    else if (value === null || value === '') continue
    else if (typeof value === 'string' && isTooLong(value)) error ??= rowErrors.cellTooLong
    else cells[cell.column - 1] = value
    isEmpty = false
  }
  spend(bytes)
  return isEmpty ? undefined : { number, cells, error }
}

class CellError {
  readonly says: string
  constructor(says: string) {
    this.says = says
  }
}

const number = /^[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?$/

function cellOf(
  { type, style, value, isFormula, hasValue }: StoredCell,
  texts: SharedTexts,
  styles: readonly NumberKind[],
  from1904: boolean,
): Cell | CellError {
  if (type === 'inlineStr' || type === 'str') return unescaped(value)
  if (!hasValue || value === '') {
    return isFormula ? new CellError('has a formula without a result. Save the file in a spreadsheet program.') : null
  }
  switch (type) {
    case 's': {
      const index = Number(value)
      if (!Number.isSafeInteger(index) || index < 0 || index >= texts.count) {
        throw new WorkbookDamage('a missing text')
      }
      return texts.get(index)
    }
    case 'b':
      return value.trim() === '1' || value.trim() === 'true'
    case 'd':
      return value.trim()
    case 'e':
      return new CellError(`has the error ${/^#[A-Z0-9/!?_ ]{1,30}$/.test(value) ? value : 'of a formula'}.`)
    default:
      return numberOf(value.trim(), styles[style] ?? 'number', from1904)
  }
}

function numberOf(written: string, kind: NumberKind, from1904: boolean): Cell | CellError {
  if (!number.test(written)) throw new WorkbookDamage('an invalid number')
  const value = Number(written)
  if (kind === 'number') return isInexact(value, written.replace(/^\+/, '')) ? written : value
  return timeOf(value, kind, from1904) ?? new CellError('has a day that does not exist.')
}
