import { after } from 'node:test'
import type { Row } from '@penstock/connector'
import { acceptSource } from '@penstock/connector/acceptance'
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
