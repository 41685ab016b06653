import { createHash } from 'node:crypto'
import {
  type Chunk,
  ConnectorError,
  type Json,
  type Row,
  RowNumbers,
  type SourceContext,
  type SourceReader,
  type Values,
} from '@penstock/connector'
import { isObject, numberIn, textIn } from '../platform-api/json.ts'
import { columnLetters, openSpreadsheet, type SheetInfo, type Spreadsheet, sheetNamed } from './sheets-api.ts'

/** Maximum number of cells, and of rows, in one request. */
const pageCells = 50_000
const pageRows = 2_500

/** The number of the row with the names of the columns, from 1. */
export const headerRowIn = ({ headerRow }: Values): number => numberIn(headerRow) ?? 1

/** The sheet in the settings. Throws `object_not_found` if it does not exist. */
export async function requireSheet(spreadsheet: Spreadsheet, settings: Values): Promise<SheetInfo> {
  const sheet = sheetNamed(await spreadsheet.sheets(), settings)
  if (sheet) return sheet
  throw new ConnectorError('object_not_found', 'The spreadsheet has no sheet of this name; check “Sheet”.')
}

/** Rows below the header that are looked at for columns behind the last name. */
const lookedAtRows = 100

/**
 * The columns of a sheet: named ones in the header, and further ones if one of the first rows has a value there. A column without a
 * name gets its number.
 */
export async function columnsOf(
  spreadsheet: Spreadsheet,
  sheet: SheetInfo,
  header: number,
): Promise<readonly string[]> {
  if (header > sheet.rows) return columnsIn(undefined)
  const { rows } = await spreadsheet.read(sheet, header, Math.min(sheet.rows, header + lookedAtRows))
  const [names = [], ...first] = rows
  const width = Math.max(...[names, ...first].map((row) => row.findLastIndex((cell) => cell !== null) + 1))
  return columnsIn(names.length === 0 ? undefined : Array.from({ length: width }, (_, at) => names[at] ?? null))
}

/** What Google Sheets shows for a formula without a value. */
const formulaErrors = /^(?:#NULL!|#DIV\/0!|#VALUE!|#REF!|#NAME\?|#NUM!|#N\/A|#ERROR!|#SPILL!|#CALC!|Loading\.\.\.)$/

/** Why a row cannot be used: a formula without a value, or a value in a column that has no name. */
function errorOf(row: Row, number: number, width: number): string | undefined {
  const failed = row.findIndex((cell) => typeof cell === 'string' && formulaErrors.test(cell))
  if (failed >= 0) {
    const why =
      row[failed] === 'Loading...' ? 'a formula that is still loading. Start again later' : `the error ${row[failed]}`
    return `The cell ${columnLetters(failed + 1)}${number} has ${why}.`
  }
  const nameless = row.findIndex((cell, at) => at >= width && cell !== null)
  if (nameless < 0) return undefined
  const letters = columnLetters(nameless + 1)
  return `The cell ${letters}${number} has a value, and column ${letters} has no name in the header row. Give the column a name, or empty the cell.`
}

/**
 * The names in a header. A column without a name gets its number. Throws `invalid_file` if a name is repeated, or if there are
 * no names.
 */
export function columnsIn(header: Row | undefined): readonly string[] {
  const names = (header ?? []).map((cell, at) => textIn(cell)?.trim() || `column_${at + 1}`)
  if (names.length === 0)
    throw new ConnectorError('invalid_file', 'The header row of the sheet is empty; check “Header row”.')
  const twice = names.find((name, at) => names.indexOf(name) !== at)
  if (twice === undefined) return names
  const message = 'Two columns of the sheet have the same name in the header row; give each a name of its own.'
  throw new ConnectorError('invalid_file', message)
}

/** Opens a reader of the rows below the header, in pages of whole rows. */
export async function open(context: SourceContext): Promise<SourceReader> {
  const { settings } = context
  const spreadsheet = await openSpreadsheet(context)
  const sheet = await requireSheet(spreadsheet, settings)
  const header = headerRowIn(settings)
  const columns = await columnsOf(spreadsheet, sheet, header)
  const size = Math.max(1, Math.min(pageRows, Math.floor(pageCells / sheet.columns)))
  return {
    total: { rows: Math.max(0, sheet.rows - header) },
    async *read(after) {
      for (let first = rowAfter(after, columns) ?? header + 1; first <= sheet.rows; first += size) {
        const page = await spreadsheet.read(sheet, first, Math.min(sheet.rows, first + size - 1))
        const rows: Row[] = []
        const errors = new Map<number, string>()
        const numbers = new RowNumbers()
        for (const [at, row] of page.rows.entries()) {
          if (row.every((cell) => cell === null)) continue
          const error = errorOf(row, first + at, columns.length)
          if (error !== undefined) errors.set(rows.length, error)
          numbers.set(rows.length, first + at)
          rows.push(columns.map((_, index) => row[index] ?? null))
        }
        const places = { file: sheet.title, unit: 'row' as const, numbers: numbers.pairs }
        if (rows.length > 0) yield { ...chunkOf(columns, rows, page.bytes, first + size), errors, places }
      }
    },
    async close() {},
  }
}

const chunkOf = (columns: readonly string[], rows: readonly Row[], bytes: number, row: number): Chunk => ({
  columns,
  rows,
  bytes,
  checkpoint: { row, columns: digestOf(columns) },
})

const digestOf = (columns: readonly string[]): string =>
  createHash('sha256').update(JSON.stringify(columns)).digest('base64url')

/** Where reading resumes. Throws `source_changed` if the columns of the sheet have changed. */
function rowAfter(after: Json | undefined, columns: readonly string[]): number | undefined {
  if (!isObject(after)) return undefined
  if (after.columns === digestOf(columns)) return numberIn(after.row)
  throw new ConnectorError(
    'source_changed',
    'The header row of the sheet was changed while it was read. Start a new transfer.',
  )
}
