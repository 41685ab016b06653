import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { placeOfRow, type Row, type RowPlaces } from '@penstock/connector'
import { acceptSource, testContext } from '@penstock/connector/acceptance'
import { sheetsRoutes, sheetsUser, spreadsheetId, startSheets } from '../../test/google-sheets-server.ts'
import { hangOf, problemOf } from '../../test/platform-server.ts'
import { googleSheets as connector } from './google-sheets.ts'

const server = await startSheets()
after(() => server.close())
const columns = ['id', 'name', 'note', 'member']
const rows = Array.from({ length: 6000 }, (_, n): Row => [n + 1, `Zoë "${n}"`, n % 2 ? `${n}` : null, n % 3 === 0])
const cells = rows.map((row) => row.map((cell) => cell ?? ''))
server.reset('People', [columns, ...cells.slice(0, 3000), [], ['', ''], ...cells.slice(3000)], {
  rows: 7000,
  columns: 10,
})
const settings = { spreadsheet: spreadsheetId }
const limited = {
  status: 429,
  json: { error: { code: 429, status: 'RESOURCE_EXHAUSTED' } },
  headers: { 'retry-after': '70' },
}

for (const [way, secrets, wrongSecrets] of [
  [
    'a service account',
    { authType: 'service-account', jsonKey: server.jsonKey },
    { authType: 'service-account', jsonKey: server.deletedKey },
  ],
  ['a user', { authType: 'oauth2', ...sheetsUser }, { authType: 'oauth2', ...sheetsUser, refreshToken: '1//revoked' }],
] as const) {
  acceptSource({
    connector,
    testServer: `a server that follows the published documentation of Google Sheets, for ${way}`,
    secrets,
    wrongSecrets,
    settings,
    missing: { ...settings, spreadsheet: 'x'.repeat(44) },
    context: { routes: sheetsRoutes(server.url) },
    columns,
    rows,
    errors: [
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
    ],
    hang: hangOf(server, /values/),
  })
}

test('no cell is lost: columns without a name, values beside the last one, and formulas without a value', async () => {
  const other = await startSheets()
  after(() => other.close())
  const cells = [
    ['id', '', 'city', '', ''],
    [1, 'x', 'Rome', 'behind'],
    [2, '', '#N/A'],
    [3, 'Loading...', 'Oslo'],
    ['#REF', '', 'N/A'],
    ...Array.from({ length: 120 }, (_, n) => [n + 5, '', 'Bonn']),
    [125, '', 'Kyiv', '', 'lost'],
  ]
  other.reset('Cells', cells, { rows: 500, columns: 26 })
  const context = testContext({
    secrets: { authType: 'service-account', jsonKey: other.jsonKey },
    settings,
    routes: sheetsRoutes(other.url),
  })
  const reader = await (await import('./read.ts')).open(context)
  const found: Row[] = []
  const errors: [number, string][] = []
  for await (const chunk of reader.read()) {
    assert.deepEqual(chunk.columns, ['id', 'column_2', 'city', 'column_4'])
    for (const [at, reason] of chunk.errors ?? []) {
      errors.push([found.length + at, reason])
      const { file, unit, number } = placeOfRow(chunk.places as RowPlaces, at)
      assert.deepEqual([file, unit, number], ['Cells', 'row', found.length + at + 2])
    }
    found.push(...chunk.rows)
  }
  assert.deepEqual(found[0], [1, 'x', 'Rome', 'behind'])
  assert.deepEqual(found[3], ['#REF', null, 'N/A', null])
  assert.equal(found.length, 125)
  assert.deepEqual(errors, [
    [1, 'The cell C3 has the error #N/A.'],
    [2, 'The cell B4 has a formula that is still loading. Start again later.'],
    [
      124,
      'The cell E126 has a value, and column E has no name in the header row. Give the column a name, or empty the cell.',
    ],
  ])
})
