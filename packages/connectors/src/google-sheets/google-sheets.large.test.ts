import assert from 'node:assert/strict'
import { after, beforeEach, describe, test } from 'node:test'
import type { Cell, Json, Row } from '@penstock/connector'
import { acceptDestination, type TestContextOptions, testContext } from '@penstock/connector/acceptance'
import { sheetsRoutes, sheetsUser, spreadsheetId, startSheets } from '../../test/google-sheets-server.ts'
import { batchOf, connectorErrorOf, hangOf, problemOf } from '../../test/platform-server.ts'
import { readAll, rowsOf } from '../../test/tables.ts'
import { googleSheets as connector } from './google-sheets.ts'
import { columnLetters } from './sheets-api.ts'

const server = await startSheets()
after(() => server.close())
const routes = sheetsRoutes(server.url)
const secrets = { authType: 'service-account', jsonKey: server.jsonKey }
const user = { authType: 'oauth2', ...sheetsUser }
const append = { spreadsheet: spreadsheetId, sheet: 'People' }
const replace = { ...append, writeMode: 'Replace' }
const columns = ['id', 'name', 'member']
const rows = Array.from({ length: 60 }, (_, n): Row => [n + 1, `=Zoë "${n}"`, n % 2 === 0])
const contentOf = (title = 'People') => server.sheets.find((sheet) => sheet.title === title)?.cells ?? []
const readBack = async () => contentOf().slice(1) as Row[]
const missing = { ...append, spreadsheet: 'x'.repeat(44) }
const limited = {
  status: 429,
  json: { error: { code: 429, status: 'RESOURCE_EXHAUSTED' } },
  headers: { 'retry-after': '70' },
}
const errors = [
  problemOf(server, /values/, limited, {
    name: 'limits requests',
    action: 'retry',
    code: 'rate_limited',
    afterMs: 70_000,
  }),
  problemOf(
    server,
    /values/,
    { status: 403, json: { error: { status: 'PERMISSION_DENIED' } } },
    { name: 'denies access', action: 'reconfigure' },
  ),
]
const testServer = 'a server that follows the published documentation of Google Sheets'

for (const settings of [append, replace]) {
  acceptDestination({
    connector,
    testServer: `${testServer}, ${settings === append ? 'Append' : 'Replace'}`,
    secrets,
    wrongSecrets: { ...secrets, jsonKey: server.deletedKey },
    settings,
    missing: { ...settings, spreadsheet: missing.spreadsheet },
    context: { routes },
    columns,
    rows,
    badRows: [{ row: [1, 'x'.repeat(50_001), true], reason: /50000 characters/, field: 'name' }],
    readBack,
    reset: () => server.reset(),
    deduplicates: true,
    visible: settings === append ? 'at once' : 'when finished',
    aborted: settings === append ? 'keeps what was confirmed' : 'leaves what was there',
    errors,
    hang: hangOf(server, /PUT .*values/),
  })
}

describe('a sheet as a source', () => {
  beforeEach(() => {
    server.calm()
    server.reset(
      'It’s "mine"',
      [['title'], ['id', 'Name', '', 'when'], [1, 'Ada', '', '31/01/2026'], [], [2, '', true]],
      { rows: 9, columns: 5 },
    )
  })
  const settings = { spreadsheet: `https://docs.google.com/spreadsheets/d/${spreadsheetId}/edit#gid=0`, headerRow: 2 }

  test('pads short rows, names columns without a name, leaves out empty rows', async () => {
    const chunks = await readAll(connector, { secrets: user, settings, routes })
    assert.deepEqual(chunks[0]?.columns, ['id', 'Name', 'column_3', 'when'])
    assert.deepEqual(rowsOf(chunks), [
      [1, 'Ada', null, '31/01/2026'],
      [2, null, true, null],
    ])
  })

  test('refuses a header that is empty or has a name twice, and one that changed while it was read', async () => {
    const context = testContext({ secrets })
    const codeOf = async (options: TestContextOptions, from?: Json) =>
      (await connectorErrorOf(readAll(connector, { secrets, routes, settings, ...options }, from), context)).code
    assert.equal(await codeOf({ settings: { ...settings, headerRow: 4 } }), 'invalid_file')
    assert.equal(await codeOf({ settings: { ...settings, headerRow: 99 } }), 'invalid_file')
    assert.equal(await codeOf({ settings: { ...settings, sheet: 'Nowhere' } }), 'object_not_found')
    assert.equal(await codeOf({ settings: { spreadsheet: 'https://evil.example.com/d/x' } }), 'invalid_setting')
    const [chunk] = await readAll(connector, { secrets, settings, routes })
    server.sheets[0]?.cells[1]?.splice(1, 1, 'Other')
    assert.equal(await codeOf({}, chunk?.checkpoint), 'source_changed')
    server.sheets[0]?.cells[1]?.splice(1, 1, 'id')
    assert.equal(await codeOf({}), 'invalid_file')
  })
})

describe('a sheet as a destination', () => {
  beforeEach(() => {
    server.calm()
    server.reset(
      'People',
      [
        ['Name', 'note', 'ID'],
        ['Ada', 'kept', 1],
      ],
      { rows: 3, columns: 3 },
    )
  })
  const openWriter = async (options: TestContextOptions = {}) => {
    assert.ok(connector.destination?.deliver)
    return await connector.destination.deliver.open(
      testContext({ secrets, routes, settings: append, columns: ['id', 'name'], ...options }),
    )
  }
  const codeOf = async (work: Promise<unknown>) => (await connectorErrorOf(work, testContext({ secrets }))).code

  test('finds columns by their names, leaves others alone, and makes the sheet longer', async () => {
    const writer = await openWriter()
    await writer.deliver(
      batchOf(
        ['id', 'name'],
        [
          [2, 'Bob'],
          [3, '=1+1'],
        ],
      ),
    )
    await writer.finish?.()
    assert.deepEqual(contentOf(), [
      ['Name', 'note', 'ID'],
      ['Ada', 'kept', 1],
      ['Bob', '', 2],
      ['=1+1', '', 3],
    ])
    assert.deepEqual([server.sheets[0]?.rows, server.sheets[0]?.marks.size], [4, 0])
  })

  test('writes behind rows that someone added meanwhile, each batch once', async () => {
    const writer = await openWriter()
    const { deliveryState } = await writer.deliver(batchOf(['id', 'name'], [[2, 'Bob']]))
    contentOf().push(['Eve', 'by hand', 9])
    const sheet = server.sheets[0]
    assert.ok(sheet && deliveryState !== undefined)
    sheet.rows = 4
    await writer.deliver(batchOf(['id', 'name'], [[3, 'Cy']], 2))
    // The delivery was not confirmed.
    const next = await openWriter({ deliveryStates: [deliveryState] })
    await next.deliver(batchOf(['id', 'name'], [[3, 'Cy']], 2))
    await next.deliver(batchOf(['id', 'name'], [[4, 'Di']], 3))
    assert.deepEqual(
      contentOf().map(([name]) => name),
      ['Name', 'Ada', 'Bob', 'Eve', 'Cy', 'Di'],
    )
  })

  test('writes equal rows of two transfers twice', async () => {
    for (const transferId of ['a', 'b'])
      await (await openWriter({ transferId })).deliver(batchOf(['id', 'name'], [[2, 'Bob']]))
    assert.deepEqual(
      contentOf().map(([name]) => name),
      ['Name', 'Ada', 'Bob', 'Bob'],
    )
  })

  test('adds a sheet that is not there, and its header', async () => {
    const writer = await openWriter({ settings: { ...append, sheet: 'New' } })
    await writer.deliver(batchOf(['id', 'name'], [[2, 'Bob']]))
    assert.deepEqual(contentOf('New'), [
      ['id', 'name'],
      [2, 'Bob'],
    ])
  })

  test('replaces what is there in one step, below the rows above the header', async () => {
    server.reset('People', [['A title'], ['id', 'old'], [1, 'x'], [2, 'y']], { rows: 4, columns: 2 })
    const options = { settings: { ...replace, headerRow: 2 }, columns }
    const writer = await openWriter(options)
    const { deliveryState } = await writer.deliver(batchOf(columns, rows))
    assert.deepEqual([server.sheets.length, contentOf()[2]], [2, [1, 'x']])
    server.failure(/batchUpdate/, 'reset after')
    const last = await openWriter({ ...options, deliveryStates: [deliveryState ?? null] })
    await last.finish?.().catch(() => {})
    await (await openWriter({ ...options, deliveryStates: [deliveryState ?? null] })).finish?.()
    assert.deepEqual(contentOf(), [['A title'], columns, ...rows])
    assert.equal(server.sheets.length, 1)
    // By nothing.
    await (await openWriter({ ...options, transferId: 'next' })).finish?.()
    assert.deepEqual(contentOf(), [['A title'], columns])
    // A test appends.
    server.reset('People', [['id'], [1]])
    await (await openWriter({ ...options, settings: replace, columns: ['id'], test: true })).deliver(
      batchOf(['id'], [[2]]),
    )
    assert.deepEqual(contentOf(), [['id'], [1], [2]])
  })

  test('refuses what does not go into the spreadsheet', async () => {
    server.reset('People', [['id', 'name']], { rows: 100, columns: 99_999 })
    const full = (await openWriter()).deliver(
      batchOf(['id', 'name'], rows.map(([id]): Row => [id as Cell, 'x']).concat(rows as Row[])),
    )
    assert.equal(await codeOf(full), 'file_too_large')
    const strange = (await openWriter({ columns: ['id', 'age'] })).deliver(batchOf(['id', 'age'], [[1, 2]]))
    assert.equal(await codeOf(strange), 'columns_do_not_fit')
    server.failure(/values/, {
      status: 400,
      json: { error: { status: 'INVALID_ARGUMENT', message: 'Unable to parse range: x' } },
    })
    assert.equal(await codeOf((await openWriter()).deliver(batchOf(['id', 'name'], [[1, 2]]))), 'object_not_found')
    server.expireTokens()
    await (await openWriter({ secrets: user })).deliver(batchOf(['id', 'name'], [[1, 'x']]))
  })

  test('names columns beyond Z', () => {
    assert.deepEqual([1, 26, 27, 52, 53, 702, 703, 18_278].map(columnLetters), [
      'A',
      'Z',
      'AA',
      'AZ',
      'BA',
      'ZZ',
      'AAA',
      'ZZZ',
    ])
  })
})
