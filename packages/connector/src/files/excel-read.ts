import { ConnectorError } from '../connector-error.ts'
import { RowNumbers } from '../row-places.ts'
import type { Cell, Json, Row } from '../rows.ts'
import { boundColumns, bounds, tooManyColumns } from './bounds.ts'
import { distinctNames } from './column-names.ts'
import type { FilePiece, OpenedFile } from './opened-file.ts'
import type { FileStore, StoredFile } from './store.ts'
import { columnName, readSheet, type SheetRow } from './xlsx/sheet.ts'
import { openWorkbook, type Workbook, type WorkbookSheet } from './xlsx/workbook.ts'

/** Which rows of a workbook are read. */
export type ExcelOptions = {
  /** Name of the sheet; by default the first one that is not hidden. */
  readonly sheet?: string
  /** Number of the row with the names of the columns, from 1; by default the first row that has a value. */
  readonly headerRow?: number
}

/** A place in a sheet: the number of the last row that was read. */
type Place = { readonly row: number; readonly storedBytes: number }

/**
 * Opens a sheet of an Excel workbook. Its columns are the names in its header. Its rows are the rows below the header that have a
 * value.
 * @throws a `ConnectorError` if the workbook is damaged, protected or has no such sheet, and the errors of the store; so does
 * `read`
 */
export async function openExcel(
  store: FileStore,
  file: StoredFile,
  { sheet: wanted, headerRow }: ExcelOptions,
  signal: AbortSignal,
): Promise<OpenedFile> {
  const book = await openWorkbook(store, file, signal)
  const sheet = chooseSheet(file, book, wanted)
  const header = await findHeader(file, book, sheet, headerRow)
  const columns = header ? columnsOf(file, header) : []
  return {
    columns,
    async *read(after) {
      if (!header) return
      const from = after === undefined ? header.number : (after as Place).row
      let storedBytes = after === undefined ? 0 : (after as Place).storedBytes
      // The beginning of the sheet is read again, as in a compressed file.
      for await (const rows of readSheet(file, book, sheet)) {
        signal.throwIfAborted()
        for (const piece of piecesOf(rows, from, columns.length)) {
          const { row, rows, errors, numbers } = piece
          const places = { sheet: sheet.name, unit: 'row' as const, numbers: numbers.pairs }
          storedBytes = Math.min(file.sizeBytes, Math.max(storedBytes, book.zip.storedBytes))
          yield { rows, errors, places, place: { row, storedBytes } satisfies Json, storedBytes }
        }
      }
    },
    async close() {},
  }
}

/**
 * The names of the sheets of a workbook that have rows, in their order, hidden ones last.
 * @throws as `openExcel` does
 */
export async function sheetsOf(
  store: FileStore,
  file: StoredFile,
  signal: AbortSignal,
): Promise<{ readonly name: string; readonly hidden: boolean }[]> {
  const { sheets } = await openWorkbook(store, file, signal)
  return [...sheets.filter(({ hidden }) => !hidden), ...sheets.filter(({ hidden }) => hidden)]
}

function chooseSheet({ name: file }: StoredFile, { sheets }: Workbook, wanted: string | undefined): WorkbookSheet {
  if (wanted === undefined || wanted === '') {
    const first = sheets.find(({ hidden }) => !hidden) ?? sheets[0]
    if (first) return first
    throw new ConnectorError('invalid_file', `${file} has no sheet with rows. Add rows, or choose another file.`)
  }
  const same = sheets.find(({ name }) => name === wanted)
  const found = same ?? sheets.find(({ name }) => name.toLowerCase() === wanted.toLowerCase())
  if (found) return found
  const message = `${file} has no sheet called ${wanted.slice(0, 100)}. Choose another sheet.`
  throw new ConnectorError('object_not_found', message)
}

async function findHeader(
  file: StoredFile,
  book: Workbook,
  sheet: WorkbookSheet,
  number: number | undefined,
): Promise<SheetRow | undefined> {
  for await (const rows of readSheet(file, book, sheet)) {
    for (const row of rows) {
      if (number === undefined || row.number === number) return row
      if (row.number > number) throw noHeaderRow(file, number)
    }
  }
  if (number === undefined) return undefined
  throw noHeaderRow(file, number)
}

const noHeaderRow = ({ name }: StoredFile, number: number) =>
  new ConnectorError(
    'invalid_file',
    `${name} has no value in row ${number}, which is set as the header row. Choose another header row.`,
  )

function columnsOf(file: StoredFile, { number, cells, error }: SheetRow): string[] {
  if (error !== undefined) {
    throw new ConnectorError('invalid_file', `The header in row ${number} of ${file.name} is not valid. ${error}`)
  }
  if (cells.length > bounds.columns) throw tooManyColumns(file.name)
  const names = Array.from({ length: cells.length }, (_, index) => `${cells[index] ?? ''}`)
  return distinctNames(boundColumns(file.name, names))
}

/** Rows after a row, in pieces of limited size. */
function* piecesOf(
  rows: Iterable<SheetRow>,
  from: number,
  width: number,
): Generator<Pick<FilePiece, 'rows' | 'errors'> & { readonly row: number; readonly numbers: RowNumbers }> {
  const rowsMax = Math.max(1, Math.floor(bounds.pieceCells / Math.max(1, width)))
  const begin = (row: number) => ({
    rows: [] as Row[],
    errors: new Map<number, string>(),
    numbers: new RowNumbers(),
    row,
  })
  let piece = begin(from)
  let chars = 0
  for (const { number, cells, error } of rows) {
    if (number <= from) continue
    const row: Cell[] = Array.from({ length: width }, (_, index) => cells[index] ?? null)
    for (const cell of row) if (typeof cell === 'string') chars += cell.length
    if (cells.length > width && error === undefined) {
      const says = `The row has a value in column ${columnName(cells.length)}, which has no name in the header.`
      piece.errors.set(piece.rows.length, says)
    }
    if (error !== undefined) piece.errors.set(piece.rows.length, error)
    piece.numbers.set(piece.rows.length, number)
    piece.rows.push(row)
    piece.row = number
    if (piece.rows.length < rowsMax && chars < bounds.pieceChars) continue
    yield piece
    piece = begin(number)
    chars = 0
  }
  if (piece.rows.length > 0) yield piece
}
