import assert from 'node:assert/strict'
import { after } from 'node:test'
import { gzipSync } from 'node:zlib'
import { acceptDestination, acceptSource } from '@penstock/connector/acceptance'
import { startDropbox, testServerName } from '../../test/dropbox-server.ts'
import type { Judged } from '../../test/failing-proxy.ts'
import { csvOfRows, hangOf, problemsOf, rowsOfCsv, someRows } from '../../test/object-store-server.ts'
import { dropbox } from './dropbox.ts'

const server = await startDropbox()
after(() => server.close())
const { proxy, secrets, routes } = server
const ofFiles = ({ url }: Judged) => url.startsWith('/2/')
const both = {
  connector: dropbox,
  testServer: testServerName,
  secrets,
  wrongSecrets: { ...secrets, refreshToken: 'wrong-refresh-token' },
  context: { routes },
  errors: problemsOf(
    proxy,
    {
      slow: {
        status: 429,
        body: JSON.stringify({
          error: { reason: { '.tag': 'too_many_requests' } },
          error_summary: 'too_many_requests/..',
        }),
      },
      forbidden: { status: 403, body: JSON.stringify({ error_summary: 'access_denied/..' }) },
    },
    ofFiles,
  ),
  hang: hangOf(proxy),
}

const { columns, rows } = someRows(60_000)
const half = rows.length / 2
server.put('/Daily/1.csv', csvOfRows(columns, rows.slice(0, half)))
server.put('/Daily/2.csv.gz', gzipSync(csvOfRows(columns, rows.slice(half))))
server.put('/Daily/_SUCCESS', '')
server.put('/Daily/deeper/3.csv', csvOfRows(columns, rows.slice(0, 10)))

acceptSource({ ...both, columns, rows, settings: { path: '/daily' }, missing: { path: '/missing/' } })

// Each batch is a separate part.
const sent = someRows(900, 20_000)
acceptDestination({
  ...both,
  columns: sent.columns,
  rows: sent.rows,
  settings: { outputPath: '/exports/', fileFormat: 'CSV' },
  missing: { outputPath: '/daily/1.csv/below/', fileFormat: 'CSV' },
  async readBack() {
    const files = [...server.files].filter(([path]) => path.startsWith('/exports/') && !path.includes('/.penstock-'))
    assert.ok(files.length <= 1, `one file, and not ${files.length}`)
    return files[0] === undefined ? [] : rowsOfCsv(files[0][1].bytes)
  },
  reset: () => {
    for (const path of server.files.keys()) if (path.startsWith('/exports/')) server.files.delete(path)
  },
  deduplicates: true,
  visible: 'when finished',
})
