import { XMLParser, XMLValidator } from 'fast-xml-parser'
import { tokenRefusal, tokensOf } from './oauth-tokens.ts'
import { type Asked, startRoutes } from './platform-routes.ts'
import type { PlatformServer, Reply } from './platform-server.ts'

/**
 * Acoustic Campaign's XML API as far as relational tables go, written from its documents: tokens by a refresh token, the lists of
 * tables, the columns of one, and rows that are stored by their key, with a failure for each that is not.
 */

type Column = { readonly name: string; readonly type: string; readonly key?: true }
type Stored = Readonly<Record<string, string>>

export type AcousticServer = PlatformServer & {
  readonly columns: readonly Column[]
  /** The rows of the table, by key. */
  readonly rows: Map<string, Stored>
  /** Requests with rows: how many rows each had. */
  readonly requests: number[]
  /** Rows with this record ID cannot be stored, so often, for a temporary reason. */
  deadlocks: Map<string, number>
  /** Whether the description of the table says which columns its key has. */
  showsKeys: boolean
  /** Tokens so far are not accepted any more. */
  expireTokens(): void
}

export const tableId = '86767'
export const acousticSecrets = {
  pod: 'us-1',
  clientToken: 'acoustic-client',
  clientSecret: 'acoustic-client-secret',
  refreshToken: 'acoustic-refresh',
}
export const acousticRoutes = (url: string) => ({ 'https://api-campaign-us-1.goacoustic.com': url })

const parser = new XMLParser({
  trimValues: false,
  parseTagValue: false,
  ignoreAttributes: false,
  attributeNamePrefix: '@',
  isArray: (name) => name === 'ROW' || name === 'COLUMN',
})

const escaped = (text: string) => text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('"', '&quot;')
const envelope = (content: string): Reply => ({
  headers: { 'content-type': 'text/xml;charset=utf-8' },
  text: `<?xml version="1.0"?>\n<Envelope><Body>${content}</Body></Envelope>`,
})
const result = (content: string): Reply => envelope(`<RESULT><SUCCESS>TRUE</SUCCESS>${content}</RESULT>`)

/** A refusal of a request as a whole. */
export const refusal = (id: string, text: string): Reply =>
  envelope(
    `<RESULT><SUCCESS>false</SUCCESS></RESULT><Fault><Request/><FaultCode/><FaultString>${text}</FaultString><detail><error><errorid>${id}</errorid><module/><class>SP.API</class><method/></error></detail></Fault>`,
  )

type Cell = { readonly '@name': string; readonly '#text'?: string }

export async function startAcoustic(): Promise<AcousticServer> {
  const columns: Column[] = [
    { name: 'Record Id', type: '0', key: true },
    { name: 'Purchase Date', type: '3' },
    { name: 'Price', type: '2' },
    { name: 'Opted <in> & "out"', type: '1' },
  ]
  const rows = new Map<string, Stored>()
  const requests: number[] = []
  const tokens = tokensOf({
    path: '/oauth/token',
    secrets: { ...acousticSecrets, clientId: acousticSecrets.clientToken },
    prefix: 'acoustic-access-',
    expiresIn: 14_399,
    more: () => ({ refresh_token: acousticSecrets.refreshToken }),
    refuses: { form: { status: 415, text: '' }, client: tokenRefusal('invalid_grant') },
  })

  function answer({ headers, text }: Asked): Reply {
    if (!headers['content-type']?.startsWith('text/xml') || XMLValidator.validate(text) !== true) {
      return refusal('51', 'Invalid XML Request')
    }
    const { Envelope: { Body: body = {} } = {} } = parser.parse(text)
    if (body.GetLists) return lists(body.GetLists)
    if (body.GetListMetaData) return metadata(body.GetListMetaData)
    if (body.InsertUpdateRelationalTable) return store(body.InsertUpdateRelationalTable)
    return refusal('51', 'Invalid XML Request')
  }

  function lists({ VISIBILITY, LIST_TYPE, INCLUDE_ALL_LISTS }: Record<string, string>): Reply {
    if (LIST_TYPE !== '15' || INCLUDE_ALL_LISTS !== 'true') return refusal('52', 'Bad list type')
    const one = (id: string, name: string, folder: boolean) =>
      `<LIST><ID>${id}</ID><NAME>${name}</NAME><TYPE>15</TYPE><IS_FOLDER>${folder}</IS_FOLDER></LIST>`
    return result(
      VISIBILITY === '0' ? one('12', 'Mine', false) : one('9', 'Folder', true) + one(tableId, 'Shop', false),
    )
  }

  function metadata({ LIST_ID }: Record<string, string>): Reply {
    if (LIST_ID !== tableId) return refusal('121', 'may quote 86767')
    const all = columns.map(({ name, type }) => `<COLUMN><NAME>${escaped(name)}</NAME><TYPE>${type}</TYPE></COLUMN>`)
    const keys = columns.filter(({ key }) => key).map(({ name }) => `<COLUMN><NAME>${name}</NAME></COLUMN>`)
    const keyColumns = server.showsKeys ? `<KEY_COLUMNS>${keys.join('')}</KEY_COLUMNS>` : ''
    return result(`<ID>${tableId}</ID><COLUMNS>${all.join('')}</COLUMNS>${keyColumns}`)
  }

  function store({ TABLE_ID, ROWS }: { TABLE_ID: string; ROWS: { ROW: { COLUMN: Cell[] }[] } }): Reply {
    const given = ROWS.ROW
    if (TABLE_ID !== tableId || given.length > 100) return refusal('160', 'Too many rows')
    requests.push(given.length)
    const failures = given.map(({ COLUMN }) => {
      const row = Object.fromEntries(COLUMN.map((cell) => [cell['@name'], cell['#text'] ?? '']))
      const id = row['Record Id'] ?? ''
      const failure = (type: string, description: string) =>
        `<FAILURE failure_type="${type}" description="${escaped(description)}"><COLUMN name="Record Id"><![CDATA[${id}]]></COLUMN></FAILURE>`
      if (Object.keys(row).some((name) => !columns.some((column) => column.name === name))) {
        return failure('permanent', `Column not found: ${id}`)
      }
      const left = server.deadlocks.get(id) ?? 0
      if (left > 0) {
        server.deadlocks.set(id, left - 1)
        return failure('transient', 'Database Deadlock')
      }
      const { Price: price = '0', 'Purchase Date': date = '01/31/2026' } = row
      if (!/^\d+(\.\d+)?$/.test(price)) return failure('permanent', 'Invalid Number in column: Price')
      if (!/^\d\d\/\d\d\/\d{4}$/.test(date))
        return failure('permanent', 'Invalid Date Value in column:\n  Purchase Date')
      if (id === '') return failure('permanent', `may quote ${date}`)
      rows.set(id, { ...rows.get(id), ...row })
      return ''
    })
    const all = failures.join('')
    return result(all === '' ? '' : `<FAILURES>${all}</FAILURES>`)
  }

  const server: AcousticServer = await startRoutes(
    {
      open: tokens.routes,
      demands: [
        ({ method, path }) => (method === 'POST' && path === '/XMLAPI' ? undefined : { status: 404, text: '' }),
        tokens.bearer({ status: 401, text: '' }),
      ],
      routes: { 'POST /XMLAPI': answer },
      unknown: { status: 404, text: '' },
    },
    {
      columns,
      rows,
      requests,
      deadlocks: new Map<string, number>(),
      showsKeys: true,
      expireTokens: tokens.expire,
    },
  )
  return server
}
