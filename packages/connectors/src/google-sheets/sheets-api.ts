import { type Cell, type ConnectorContext, ConnectorError, type Row, type Values } from '@penstock/connector'
import { googleCodes } from '../google/error-codes.ts'
import { serviceAccount } from '../google/service-account.ts'
import { googleTokens } from '../google-ads/access.ts'
import { restApi } from '../kit/api.ts'
import { openApi } from '../kit/run/open-api.ts'
import type { PlatformClient } from '../platform-api/client.ts'
import { isObject, listIn, numberIn, objectIn, textIn } from '../platform-api/json.ts'

/** The scope of Google that reading and writing need. */
const sheetsScope = 'https://www.googleapis.com/auth/spreadsheets'
export const sheetsOrigin = 'https://sheets.googleapis.com'

/** Cells that Google allows in all sheets of a spreadsheet. */
const cellsMax = 10_000_000
const bytesMax = 64 << 20

const api = restApi({
  name: 'Google Sheets',
  baseUrl: `${sheetsOrigin}/v4/spreadsheets`,
  errors: {
    codeAt: 'error.status',
    codes: googleCodes,
    statuses: {
      400: ['request_refused', 'Check the spreadsheet and the sheet.'],
      401: ['expired_credentials', 'Authorize the connector again, or save valid credentials in it.'],
      403: [
        'permission_denied',
        'Share the spreadsheet with the service account or the user, and enable the Google Sheets API in the project. Ranges that are protected cannot be written.',
      ],
      404: [
        'object_not_found',
        'Check the ID of the spreadsheet, and that it is shared with the service account or the user.',
      ],
    },
    special({ status, json }) {
      const message = textIn(objectIn(objectIn(json).error).message) ?? ''
      if (status === 400 && /limit of 10000000 cells/.test(message)) return tooLarge()
      if (status === 400 && /^Unable to parse range/.test(message))
        return ['object_not_found', 'The sheet was renamed or removed; check “Sheet”.']
      return undefined
    },
  },
})

/** More cells than a spreadsheet can have. */
const tooLarge = (): ConnectorError =>
  new ConnectorError(
    'file_too_large',
    'Google Sheets takes at most 10 million cells in a spreadsheet, with empty ones and those of all sheets. Delete unused rows and columns, or use another spreadsheet.',
  )

/** A sheet of a spreadsheet: a tab with a grid of cells. */
export type SheetInfo = {
  readonly id: number
  readonly title: string
  readonly rows: number
  readonly columns: number
  readonly hidden: boolean
  /** Notes that only programs see, by their IDs. */
  readonly marks: ReadonlyMap<number, string>
}

/** One spreadsheet, signed in. */
export type Spreadsheet = {
  /** The present sheets. Throws `object_not_found` if the spreadsheet does not exist. */
  sheets(): Promise<readonly SheetInfo[]>
  /** Cells of whole rows, up to the last cell with content. @param first @param last numbers of rows, from 1 */
  read(sheet: SheetInfo, first: number, last: number): Promise<{ rows: readonly Row[]; bytes: number }>
  /** Writes cells of whole rows. `null` does not change a cell. Writing the same again changes nothing. @returns bytes sent */
  write(sheet: SheetInfo, first: number, rows: readonly Row[]): Promise<number>
  /** Changes the structure: all of the requests or none. It is never repeated automatically. */
  change(requests: readonly object[]): Promise<void>
}

/** Opens the spreadsheet that the settings name. Throws `invalid_setting` if they name no spreadsheet. */
export async function openSpreadsheet(context: ConnectorContext): Promise<Spreadsheet> {
  const id = spreadsheetIdIn(context.settings)
  const client = await openSheets(context)
  return {
    async sheets() {
      const fields =
        'sheets(properties(sheetId,title,hidden,sheetType,gridProperties(rowCount,columnCount)),developerMetadata(metadataId,metadataValue))'
      const { json } = await client.askObject({ path: `/${id}`, query: { fields } })
      return listIn(json.sheets).flatMap((one) => sheetOf(one) ?? [])
    },
    async read(sheet, first, last) {
      const query = { valueRenderOption: 'UNFORMATTED_VALUE', dateTimeRenderOption: 'FORMATTED_STRING' }
      const path = `/${id}/values/${encodeURIComponent(rangeOf(sheet, first, last, sheet.columns))}`
      const { json, text } = await client.askObject({ path, query, bytesMax })
      const rows = listIn(json.values).map((row) => listIn(row).map(cellOf))
      if (rows.length > last - first + 1)
        throw new ConnectorError('malformed_response', 'Google Sheets sent more rows than were asked for.')
      return { rows, bytes: Buffer.byteLength(text) }
    },
    async write(sheet, first, values) {
      const width = Math.max(1, ...values.map((row) => row.length))
      const range = rangeOf(sheet, first, first + values.length - 1, width)
      const path = `/${id}/values/${encodeURIComponent(range)}`
      const body = { range, majorDimension: 'ROWS', values }
      const { bytesSent } = await client.askObject({ method: 'PUT', path, query: { valueInputOption: 'RAW' }, body })
      return bytesSent
    },
    async change(requests) {
      await client.askObject({ method: 'POST', path: `/${id}:batchUpdate`, body: { requests }, repeatable: false })
    },
  }
}

/** The API, signed in with the key of a service account or for a user. */
export async function openSheets(context: ConnectorContext): Promise<PlatformClient> {
  if (context.secrets.authType === 'service-account') {
    const account = serviceAccount(context, context.secrets.jsonKey, sheetsScope)
    const open = async () => ({
      renews: true,
      headers: async (refused?: Readonly<Record<string, string>>) => ({
        authorization: `Bearer ${await account.token(refused?.authorization?.slice(7))}`,
      }),
    })
    return openApi(context, api, { open })
  }
  return openApi(context, api, { open: async () => googleTokens(context, sheetsScope) })
}

/** The ID of a spreadsheet, from itself or from its address. Throws `invalid_setting` if it is neither. */
export function spreadsheetIdIn(settings: Values): string {
  const text = (textIn(settings.spreadsheet) ?? '').trim()
  const id = /^https:\/\/docs\.google\.com\/spreadsheets\/(?:u\/\d\/)?d\/([\w-]+)/.exec(text)?.[1] ?? text
  if (/^[\w-]{20,100}$/.test(id)) return id
  const message =
    'Spreadsheet must be the address of a Google spreadsheet, or the ID in it between /d/ and the next slash.'
  throw new ConnectorError('invalid_setting', message)
}

/** The sheet in the settings, or the first visible one. `undefined` if there is no such sheet. */
export function sheetNamed(sheets: readonly SheetInfo[], settings: Values): SheetInfo | undefined {
  const name = textIn(settings.sheet)?.trim()
  if (!name) return sheets.find(({ hidden }) => !hidden) ?? sheets[0]
  return (
    sheets.find(({ title }) => title === name) ?? sheets.find(({ title }) => title.toLowerCase() === name.toLowerCase())
  )
}

/** Throws `file_too_large` if `more` cells do not fit into the spreadsheet. */
export function assertFits(sheets: readonly SheetInfo[], more: number): void {
  if (sheets.reduce((sum, { rows, columns }) => sum + rows * columns, more) > cellsMax) throw tooLarge()
}

/** Names of columns: A to Z, AA and so on. @param at from 1 */
export function columnLetters(at: number): string {
  let letters = ''
  for (let left = at; left > 0; left = Math.floor((left - 1) / 26))
    letters = String.fromCharCode(65 + ((left - 1) % 26)) + letters
  return letters
}

const rangeOf = ({ title }: SheetInfo, first: number, last: number, width: number): string =>
  `'${title.replaceAll("'", "''")}'!A${first}:${columnLetters(width)}${last}`

function sheetOf(value: unknown): SheetInfo | undefined {
  const { properties, developerMetadata } = objectIn(value)
  const { sheetId, title, hidden, gridProperties } = objectIn(properties)
  const { rowCount, columnCount } = objectIn(gridProperties)
  const [id, rows, columns] = [numberIn(sheetId ?? 0), numberIn(rowCount), numberIn(columnCount)]
  // Charts and connected sheets have no grid.
  if (typeof title !== 'string' || id === undefined || !(rows && rows > 0) || !(columns && columns > 0))
    return undefined
  const marks = listIn(developerMetadata).flatMap((one): [number, string][] => {
    const { metadataId, metadataValue } = objectIn(one)
    const [mark, text] = [numberIn(metadataId), textIn(metadataValue)]
    return mark === undefined || text === undefined ? [] : [[mark, text]]
  })
  return { id, title, rows, columns, hidden: hidden === true, marks: new Map(marks) }
}

const cellOf = (value: unknown): Cell => {
  if (typeof value === 'string') return value === '' ? null : value
  if (typeof value === 'boolean') return value
  if (typeof value === 'number' && Number.isFinite(value)) return value
  return isObject(value) || Array.isArray(value) ? JSON.stringify(value) : null
}
