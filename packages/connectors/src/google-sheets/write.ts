import { createHash } from 'node:crypto'
import {
  asConnectorError,
  ConnectorError,
  type DestinationContext,
  type DestinationWriter,
  type Finding,
  type InspectionContext,
  type Json,
  type Row,
} from '@penstock/connector'
import { numberIn, objectIn, textIn } from '../platform-api/json.ts'
import { isSame, readRows } from './cells.ts'
import { columnsIn, headerRowIn } from './read.ts'
import {
  assertFits,
  openSpreadsheet,
  type SheetInfo,
  type Spreadsheet,
  sheetNamed,
  spreadsheetIdIn,
} from './sheets-api.ts'

/** Rows after the last one are checked in groups of this size. */
const lookRows = 2_000

/** The place of the next rows. */
type Place = {
  readonly spreadsheet: Spreadsheet
  readonly sheet: SheetInfo
  /** For each delivered column, the index of its cell in a row. */
  readonly places: readonly number[]
  readonly next: number
}

/**
 * Writes each batch to rows whose numbers are known beforehand, so a repeated batch is written to the same rows. Append notes
 * in the spreadsheet where a transfer begins. Replace fills a hidden sheet, whose content replaces the content of the other
 * sheet at the end.
 */
export async function open(context: DestinationContext): Promise<DestinationWriter> {
  spreadsheetIdIn(context.settings)
  const replaces = context.settings.writeMode === 'Replace' && context.test !== true
  const mark = numberOf(context.transferId)
  let place: Place | undefined
  /** The row after the rows of the last delivery. */
  let confirmed = rowIn(context.deliveryStates)
  return {
    async deliver(batch) {
      const { good, rejected } = readRows(batch)
      if (good.length === 0) return { bytes: 0, rejected }
      place ??= await (replaces ? openStaging : openTarget)(context, mark, confirmed)
      try {
        const { places } = place
        const width = Math.max(...places) + 1
        const rows = good.map((row) => {
          const cells: (Row[number] | null)[] = new Array(width).fill(null)
          for (const [at, to] of places.entries()) cells[to] = row[at] ?? ''
          return cells
        })
        place = await withRows(place, rows.length)
        const { rows: found } = replaces ? { rows: [] } : await readOf(place, rows.length)
        if (found.length > 0 && !isSame(found, rows))
          place = await withRows(await behindOthers(place, mark), rows.length)
        const bytes = await place.spreadsheet.write(place.sheet, place.next, rows)
        confirmed = place.next + rows.length
        place = { ...place, next: confirmed }
        return { bytes, rejected, deliveryState: { row: confirmed } }
      } catch (error) {
        place = undefined
        throw error
      }
    },
    async finish() {
      if (replaces) await takePlace(context, mark, confirmed)
      else await unmark(await openSpreadsheet(context), mark)
    },
    async abort() {
      try {
        const spreadsheet = await openSpreadsheet(context)
        if (!replaces) await unmark(spreadsheet, mark)
        else if ((await spreadsheet.sheets()).some(({ id }) => id === mark))
          await spreadsheet.change([{ deleteSheet: { sheetId: mark } }])
      } catch {
        // A hidden sheet stays.
      }
    },
  }
}

/** An identifier of the sheet or the note of a transfer: the same in every attempt. */
const numberOf = (transferId: string): number =>
  createHash('sha256').update(transferId).digest().readUInt32BE(0) >>> 1 || 1

const rowIn = (states: readonly Json[]): number | undefined => numberIn(objectIn(states.at(-1)).row)

const readOf = ({ spreadsheet, sheet, next }: Place, rows: number) => spreadsheet.read(sheet, next, next + rows - 1)

/** Makes the sheet long enough. */
async function withRows(place: Place, rows: number): Promise<Place> {
  const { spreadsheet, sheet, next } = place
  const missing = next + rows - 1 - sheet.rows
  if (missing <= 0) return place
  const sheets = await spreadsheet.sheets()
  const now = sheets.find(({ id }) => id === sheet.id)
  if (!now) throw new ConnectorError('object_not_found', 'The sheet was removed while it was written; check “Sheet”.')
  const length = next + rows - 1 - now.rows
  if (length <= 0) return { ...place, sheet: now }
  assertFits(sheets, length * now.columns)
  await spreadsheet.change([{ appendDimension: { sheetId: sheet.id, dimension: 'ROWS', length } }])
  return { ...place, sheet: { ...now, rows: now.rows + length } }
}

/** The number of the last row with content. 0 if no row has content. */
async function lastRow(spreadsheet: Spreadsheet, sheet: SheetInfo): Promise<number> {
  for (let last = sheet.rows; last > 0; last -= lookRows) {
    const first = Math.max(1, last - lookRows + 1)
    const { rows } = await spreadsheet.read(sheet, first, last)
    if (rows.length > 0) return first + rows.length - 1
  }
  return 0
}

/** Someone else wrote to the rows. The batch goes after them, and the note records that. */
async function behindOthers(place: Place, mark: number): Promise<Place> {
  const { spreadsheet, sheet } = place
  const now = (await spreadsheet.sheets()).find(({ id }) => id === sheet.id) ?? sheet
  const next = (await lastRow(spreadsheet, now)) + 1
  await note(spreadsheet, now, mark, next)
  return { ...place, sheet: now, next }
}

async function openTarget(context: DestinationContext, mark: number, confirmed: number | undefined): Promise<Place> {
  const { settings, columns } = context
  const spreadsheet = await openSpreadsheet(context)
  const sheet = await existingOrNew(spreadsheet, context)
  const header = headerRowIn(settings)
  const [named] = header <= sheet.rows ? (await spreadsheet.read(sheet, header, header)).rows : []
  if (named === undefined) {
    const wide = await withColumns(spreadsheet, sheet, columns.length)
    const place = { spreadsheet, sheet: wide, places: columns.map((_, at) => at), next: header }
    const { sheet: long } = await withRows(place, 1)
    await spreadsheet.write(long, header, [columns])
    return { ...place, sheet: long, next: await startOf({ spreadsheet, sheet: long, mark, header, confirmed }) }
  }
  const places = placesOf(columns, columnsIn(named))
  const missing = columns.find((_, at) => places[at] === -1)
  if (missing !== undefined) {
    const message = `The sheet has no column ${missing} in its header row; add it there, or map the column to another one.`
    throw new ConnectorError('columns_do_not_fit', message)
  }
  return { spreadsheet, sheet, places, next: await startOf({ spreadsheet, sheet, mark, header, confirmed }) }
}

/**
 * The indexes of delivered columns in the header, by their exact names or else in any letter case. -1 if a column is missing.
 */
function placesOf(columns: readonly string[], header: readonly string[]): readonly number[] {
  const lower = header.map((name) => name.toLowerCase())
  return columns.map((name) => {
    const exact = header.indexOf(name.trim())
    return exact >= 0 ? exact : lower.indexOf(name.trim().toLowerCase())
  })
}

/** The sheet in the settings. It is added if it does not exist. An earlier attempt may have added it. */
async function existingOrNew(spreadsheet: Spreadsheet, { settings, columns }: DestinationContext): Promise<SheetInfo> {
  const sheets = await spreadsheet.sheets()
  const found = sheetNamed(sheets, settings)
  if (found) return found
  const gridProperties = { rowCount: 1000, columnCount: Math.max(26, columns.length) }
  assertFits(sheets, gridProperties.rowCount * gridProperties.columnCount)
  await spreadsheet.change([{ addSheet: { properties: { title: textIn(settings.sheet)?.trim(), gridProperties } } }])
  const added = sheetNamed(await spreadsheet.sheets(), settings)
  if (added) return added
  throw new ConnectorError('malformed_response', 'Google Sheets does not have the sheet that it added.')
}

async function withColumns(spreadsheet: Spreadsheet, sheet: SheetInfo, columns: number): Promise<SheetInfo> {
  const length = columns - sheet.columns
  if (length <= 0) return sheet
  assertFits(await spreadsheet.sheets(), length * sheet.rows)
  await spreadsheet.change([{ appendDimension: { sheetId: sheet.id, dimension: 'COLUMNS', length } }])
  return { ...sheet, columns }
}

/** The first row of a transfer, or of its next batch. It is noted in the spreadsheet before anything is written. */
async function startOf(of: {
  readonly spreadsheet: Spreadsheet
  readonly sheet: SheetInfo
  readonly mark: number
  readonly header: number
  readonly confirmed: number | undefined
}): Promise<number> {
  const { spreadsheet, sheet, mark, header, confirmed } = of
  const noted = numberIn(sheet.marks.get(mark)?.trim())
  if (noted !== undefined || confirmed !== undefined) return Math.max(noted ?? 0, confirmed ?? 0, header + 1)
  const start = Math.max(header, await lastRow(spreadsheet, sheet)) + 1
  await note(spreadsheet, sheet, mark, start)
  return start
}

async function note(spreadsheet: Spreadsheet, sheet: SheetInfo, mark: number, row: number): Promise<void> {
  const metadataValue = String(row)
  const lookup = { developerMetadataLookup: { metadataId: mark } }
  const developerMetadata = {
    metadataId: mark,
    metadataKey: 'penstock',
    metadataValue,
    location: { sheetId: sheet.id },
    visibility: 'DOCUMENT',
  }
  const known = (await spreadsheet.sheets()).some(({ marks }) => marks.has(mark))
  await spreadsheet.change([
    known
      ? {
          updateDeveloperMetadata: {
            dataFilters: [lookup],
            developerMetadata: { metadataValue },
            fields: 'metadataValue',
          },
        }
      : { createDeveloperMetadata: { developerMetadata } },
  ])
}

/** Removes the note of a transfer that has ended. */
async function unmark(spreadsheet: Spreadsheet, mark: number): Promise<void> {
  if (!(await spreadsheet.sheets()).some(({ marks }) => marks.has(mark))) return
  const dataFilter = { developerMetadataLookup: { metadataId: mark } }
  await spreadsheet.change([{ deleteDeveloperMetadata: { dataFilter } }])
}

/** The hidden sheet of a transfer that replaces. Its header is in its first row. */
async function openStaging(context: DestinationContext, mark: number, confirmed: number | undefined): Promise<Place> {
  const { columns, transferId } = context
  const spreadsheet = await openSpreadsheet(context)
  const sheets = await spreadsheet.sheets()
  let sheet = sheets.find(({ id }) => id === mark)
  if (!sheet) {
    if (confirmed !== undefined)
      throw new ConnectorError(
        'upload_lost',
        'The hidden sheet of the transfer was removed from the spreadsheet. Start a new transfer.',
      )
    const gridProperties = { rowCount: 1000, columnCount: columns.length }
    assertFits(sheets, gridProperties.rowCount * gridProperties.columnCount)
    const properties = { sheetId: mark, title: `penstock ${transferId}`, hidden: true, gridProperties }
    await spreadsheet.change([{ addSheet: { properties } }])
    sheet = { id: mark, title: properties.title, rows: 1000, columns: columns.length, hidden: true, marks: new Map() }
  }
  await spreadsheet.write(sheet, 1, [columns])
  return { spreadsheet, sheet, places: columns.map((_, at) => at), next: confirmed ?? 2 }
}

/** Replaces the content of the other sheet with the content of the hidden sheet, in one atomic step. */
async function takePlace(context: DestinationContext, mark: number, confirmed: number | undefined): Promise<void> {
  const { settings, columns } = context
  const spreadsheet = await openSpreadsheet(context)
  const before = await spreadsheet.sheets()
  const isThere = before.some(({ id }) => id === mark)
  // Rows were delivered, and their sheet is gone: this was finished before.
  if (!isThere && confirmed !== undefined) return
  if (!isThere) await openStaging(context, mark, undefined)
  const sheets = isThere ? before : await spreadsheet.sheets()
  const target = sheetNamed(
    sheets.filter(({ id }) => id !== mark),
    settings,
  )
  if (!target) {
    const title = textIn(settings.sheet)?.trim()
    await spreadsheet.change([
      { updateSheetProperties: { properties: { sheetId: mark, title, hidden: false }, fields: 'title,hidden' } },
    ])
    return
  }
  const first = headerRowIn(settings) - 1
  const count = (confirmed ?? 2) - 1
  const more = { rows: first + count - target.rows, columns: columns.length - target.columns }
  const append = (dimension: string, length: number) =>
    length > 0 ? [{ appendDimension: { sheetId: target.id, dimension, length } }] : []
  const grid = (sheetId: number, row: number) => ({
    sheetId,
    startRowIndex: row,
    endRowIndex: row + count,
    startColumnIndex: 0,
    endColumnIndex: columns.length,
  })
  await spreadsheet.change([
    { updateCells: { range: { sheetId: target.id, startRowIndex: first }, fields: 'userEnteredValue' } },
    ...append('ROWS', more.rows),
    ...append('COLUMNS', more.columns),
    { copyPaste: { source: grid(mark, 0), destination: grid(target.id, first), pasteType: 'PASTE_VALUES' } },
    { deleteSheet: { sheetId: mark } },
  ])
}

/** Looks up the sheet and its header. Changes nothing. */
export async function inspect(context: InspectionContext): Promise<readonly Finding[]> {
  const { settings, columns } = context
  const spreadsheet = await openSpreadsheet(context)
  const sheet = sheetNamed(await spreadsheet.sheets(), settings)
  const header = headerRowIn(settings)
  if (!sheet || settings.writeMode === 'Replace' || header > sheet.rows) return []
  const [named] = (await spreadsheet.read(sheet, header, header)).rows
  if (named === undefined) return []
  try {
    const places = placesOf(columns, columnsIn(named))
    return columns.flatMap((column, at) =>
      places[at] === -1
        ? [
            {
              code: 'columns_do_not_fit' as const,
              column,
              message: 'The sheet has no column of this name in its header row; add it there.',
            },
          ]
        : [],
    )
  } catch (error) {
    const refused = asConnectorError(error)
    if (!refused) throw error
    return [{ code: refused.code, message: refused.message }]
  }
}
