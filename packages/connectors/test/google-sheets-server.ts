import type http from 'node:http'
import { makeGoogleAccounts } from './google-accounts.ts'
import { type PlatformServer, type Received, type Reply, startPlatform } from './platform-server.ts'

/**
 * Google Sheets, as far as values and the structure of one spreadsheet go, written from its documents. Answers leave out empty cells
 * and rows at the end, grids have bounds, and a batch of changes is done as a whole or not at all.
 */

type Value = string | number | boolean
type Sheet = {
  sheetId: number
  title: string
  hidden: boolean
  rows: number
  columns: number
  cells: Value[][]
  marks: Map<number, string>
}

export type SheetsServer = PlatformServer & {
  readonly jsonKey: string
  readonly deletedKey: string
  readonly sheets: Sheet[]
  expireTokens(): void
  /** One sheet with a grid of this size. */
  reset(title?: string, rows?: readonly Value[][], grid?: { rows: number; columns: number }): void
}

export const spreadsheetId = '1AbcDEFghijKLMnopQRstuVWxyz0123456789_-example'
export const sheetsUser = { clientId: 'app', clientSecret: 'sheets-secret', refreshToken: '1//refresh-of-sheets' }
export const sheetsRoutes = (url: string) => ({
  'https://sheets.googleapis.com': url,
  'https://oauth2.googleapis.com': url,
})

const cellsMax = 10_000_000
const refusal = (code: number, status: string, message = 'may quote jane@example.com'): Reply => ({
  status: code,
  json: { error: { code, status, message } },
})
class Refused extends Error {
  readonly reply: Reply
  constructor(message?: string) {
    super(message)
    this.reply = refusal(400, 'INVALID_ARGUMENT', message)
  }
}

export async function startSheets(): Promise<SheetsServer> {
  const accounts = makeGoogleAccounts(['spreadsheets'])
  const sheets: Sheet[] = []
  let userToken = ''
  let tokens = 0
  let ids = 100

  function answer(received: Received): Reply {
    const { method, path, headers, text, query } = received
    if (`${method} ${path}` === 'GET /') return { status: 404, text: '' }
    if (path === '/token') return token(received)
    const bearer = String(headers.authorization).slice(7)
    if (bearer !== userToken && !accounts.accepts(bearer)) return refusal(401, 'UNAUTHENTICATED')
    const [, id, rest = ''] = /^\/v4\/spreadsheets\/([\w-]+)(.*)$/.exec(path) ?? []
    if (id !== spreadsheetId) return refusal(404, 'NOT_FOUND')
    try {
      if (method === 'GET' && rest === '') return { json: { sheets: sheets.map(shown) } }
      const [, range] = /^\/values\/(.+)$/.exec(rest) ?? []
      if (method === 'GET' && range) return readValues(decodeURIComponent(range), query)
      if (method === 'PUT' && range) return writeValues(decodeURIComponent(range), query, JSON.parse(text))
      if (method === 'POST' && rest === ':batchUpdate') return change(JSON.parse(text).requests)
    } catch (error) {
      if (error instanceof Refused) return error.reply
      throw error
    }
    return refusal(404, 'NOT_FOUND')
  }

  function token({ method, headers, text }: Received): Reply {
    const form = Object.fromEntries(new URLSearchParams(text))
    if (form.grant_type !== 'refresh_token') {
      const given = accounts.give({ method, headers } as http.IncomingMessage, Buffer.from(text))
      return { status: given.status, json: JSON.parse(given.body) }
    }
    const { clientId, clientSecret, refreshToken } = sheetsUser
    const isGood =
      form.client_id === clientId && form.client_secret === clientSecret && form.refresh_token === refreshToken
    if (!isGood) return { status: 400, json: { error: 'invalid_grant' } }
    userToken = `ya29.user-${++tokens}`
    return { json: { access_token: userToken, expires_in: 3599, token_type: 'Bearer' } }
  }

  const shown = ({ sheetId, title, hidden, rows, columns, marks }: Sheet) => ({
    // Defaults are left out.
    properties: {
      ...(sheetId && { sheetId }),
      title,
      ...(hidden && { hidden }),
      sheetType: 'GRID',
      gridProperties: { rowCount: rows, columnCount: columns },
    },
    ...(marks.size > 0 && {
      developerMetadata: [...marks].map(([metadataId, metadataValue]) => ({ metadataId, metadataValue })),
    }),
  })

  function placeOf(range: string) {
    const [, name = '', from = '', first = '', to = '', last = ''] =
      /^'((?:[^']|'')+)'!([A-Z]+)(\d+):([A-Z]+)(\d+)$/.exec(range) ?? []
    const sheet = sheets.find(({ title }) => title === name.replaceAll("''", "'"))
    if (!sheet) throw new Refused(`Unable to parse range: ${range}`)
    const place = { sheet, first: Number(first) - 1, last: Number(last), left: numberOf(from) - 1, right: numberOf(to) }
    if (place.last > sheet.rows || place.right > sheet.columns) throw new Refused('Range exceeds grid limits.')
    return place
  }

  function readValues(range: string, query: URLSearchParams): Reply {
    if (
      query.get('valueRenderOption') !== 'UNFORMATTED_VALUE' ||
      query.get('dateTimeRenderOption') !== 'FORMATTED_STRING'
    )
      throw new Refused()
    const { sheet, first, last, left, right } = placeOf(range)
    const rows = sheet.cells
      .slice(first, last)
      .map((row) => trimmed(Array.from(row.slice(left, right), (cell) => cell ?? '')))
    while (rows.length > 0 && rows.at(-1)?.length === 0) rows.pop()
    return { json: { range, majorDimension: 'ROWS', ...(rows.length > 0 && { values: rows }) } }
  }

  function writeValues(range: string, query: URLSearchParams, body: { range: string; values: unknown[][] }): Reply {
    if (query.get('valueInputOption') !== 'RAW' || body.range !== range) throw new Refused()
    const { sheet, first, last, left, right } = placeOf(range)
    if (body.values.length > last - first || body.values.some((row) => row.length > right - left)) throw new Refused()
    for (const [at, row] of body.values.entries()) {
      for (const [index, cell] of row.entries()) {
        if (cell === null) continue
        if (typeof cell === 'object' || (typeof cell === 'string' && cell.length > 50_000)) throw new Refused()
        put(sheet, first + at, left + index, cell as Value)
      }
    }
    return { json: { updatedRange: range } }
  }

  function change(requests: Record<string, Json>[]): Reply {
    const before = structuredClone(sheets)
    try {
      for (const request of requests) {
        const [[kind, of] = ['', {}]] = Object.entries(request)
        apply(kind, of)
      }
      if (sheets.reduce((sum, { rows, columns }) => sum + rows * columns, 0) > cellsMax) {
        throw new Refused(
          'This action would increase the number of cells in the workbook above the limit of 10000000 cells.',
        )
      }
      return { json: { replies: requests.map(() => ({})) } }
    } catch (error) {
      sheets.splice(0, sheets.length, ...before)
      throw error
    }
  }

  function apply(kind: string, of: Json): void {
    const byId = (id: unknown): Sheet => {
      const found = sheets.find(({ sheetId }) => sheetId === id)
      if (!found) throw new Refused('No grid with this id.')
      return found
    }
    if (kind === 'addSheet') {
      const { sheetId = ++ids, title, hidden = false, gridProperties } = of.properties
      if (sheets.some((one) => one.sheetId === sheetId || one.title === title)) throw new Refused('already exists')
      sheets.push({
        sheetId,
        title,
        hidden,
        rows: gridProperties.rowCount,
        columns: gridProperties.columnCount,
        cells: [],
        marks: new Map(),
      })
    } else if (kind === 'deleteSheet') {
      if (sheets.length === 1) throw new Refused('You can’t remove all the sheets.')
      sheets.splice(sheets.indexOf(byId(of.sheetId)), 1)
    } else if (kind === 'appendDimension') {
      byId(of.sheetId)[of.dimension === 'ROWS' ? 'rows' : 'columns'] += of.length
    } else if (kind === 'createDeveloperMetadata') {
      const { metadataId, metadataValue, location, visibility, metadataKey } = of.developerMetadata
      if (visibility !== 'DOCUMENT' || !metadataKey || sheets.some(({ marks }) => marks.has(metadataId)))
        throw new Refused()
      byId(location.sheetId).marks.set(metadataId, metadataValue)
    } else if (kind === 'updateDeveloperMetadata' || kind === 'deleteDeveloperMetadata') {
      const { metadataId } = (of.dataFilter ?? of.dataFilters[0]).developerMetadataLookup
      const sheet = sheets.find(({ marks }) => marks.has(metadataId))
      if (!sheet) throw new Refused('No developer metadata.')
      if (kind === 'deleteDeveloperMetadata') sheet.marks.delete(metadataId)
      else sheet.marks.set(metadataId, of.developerMetadata.metadataValue)
    } else if (kind === 'updateSheetProperties') {
      const { sheetId, title, hidden } = of.properties
      if (of.fields !== 'title,hidden') throw new Refused()
      Object.assign(byId(sheetId), { title, hidden })
    } else if (kind === 'updateCells') {
      const { sheetId, startRowIndex } = of.range
      if (of.fields !== 'userEnteredValue') throw new Refused()
      byId(sheetId).cells.splice(startRowIndex)
    } else if (kind === 'copyPaste') {
      const [from, to] = [byId(of.source.sheetId), byId(of.destination.sheetId)]
      if (
        of.pasteType !== 'PASTE_VALUES' ||
        of.destination.endRowIndex > to.rows ||
        of.destination.endColumnIndex > to.columns
      )
        throw new Refused('exceeds grid')
      from.cells.slice(of.source.startRowIndex, of.source.endRowIndex).forEach((row, at) => {
        for (const [index, cell] of row.slice(0, of.source.endColumnIndex).entries())
          put(to, of.destination.startRowIndex + at, index, cell)
      })
    } else throw new Refused(`unknown request ${kind}`)
  }

  const server = await startPlatform(answer)
  return Object.assign(server, {
    jsonKey: accounts.jsonKey,
    deletedKey: accounts.deletedKey,
    sheets,
    expireTokens() {
      userToken = ''
      accounts.expireTokens()
    },
    reset(title = 'People', rows: readonly Value[][] = [], grid = { rows: 20, columns: 8 }) {
      const cells = rows.map((row) => [...row])
      sheets.splice(0, sheets.length, { sheetId: 0, title, hidden: false, ...grid, cells, marks: new Map() })
    },
  })
}

/** A request as it came. */
// biome-ignore lint/suspicious/noExplicitAny: the server reads what a client sent, and throws at anything else
type Json = any

const numberOf = (letters: string): number =>
  [...letters].reduce((sum, letter) => sum * 26 + letter.charCodeAt(0) - 64, 0)

function put(sheet: Sheet, row: number, column: number, cell: Value): void {
  while (sheet.cells.length <= row) sheet.cells.push([])
  const cells = sheet.cells[row] ?? []
  while (cells.length < column) cells.push('')
  cells[column] = cell
}

/** Without empty cells at the end. */
function trimmed(row: Value[]): Value[] {
  const last = row.findLastIndex((cell) => cell !== '')
  return row.slice(0, last + 1)
}
