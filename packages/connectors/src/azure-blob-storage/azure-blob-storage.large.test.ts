import assert from 'node:assert/strict'
import { after } from 'node:test'
import { gzipSync } from 'node:zlib'
import { acceptDestination, acceptSource } from '@penstock/connector/acceptance'
import { startAzureTestServer, testServerName } from '../../test/azure-server.ts'
import { csvOfRows, hangOf, problemsOf, rowsOfCsv, someRows } from '../../test/object-store-server.ts'
import { azureBlobStorageDestination } from './azure-blob-storage-destination.ts'
import { azureBlobStorageSource } from './azure-blob-storage-source.ts'

const azure = await startAzureTestServer(['people', 'out'])
after(() => azure.close())
const { proxy, secrets, routes } = azure
const both = {
  testServer: testServerName,
  secrets,
  context: { routes },
  wrongSecrets: { ...secrets, accessKey: Buffer.alloc(64, 'wrong').toString('base64') },
  errors: problemsOf(proxy, {
    slow: { status: 503, headers: { 'x-ms-error-code': 'ServerBusy' } },
    forbidden: { status: 403, headers: { 'x-ms-error-code': 'AuthorizationFailure' } },
  }),
  hang: hangOf(proxy),
}

const { columns, rows } = someRows(60_000)
const half = rows.length / 2
await azure.put('people', 'daily/1.csv', csvOfRows(columns, rows.slice(0, half)))
await azure.put('people', 'daily/2.csv.gz', gzipSync(csvOfRows(columns, rows.slice(half))))
await azure.put('people', 'daily/_SUCCESS', '')
await azure.put('people', 'daily/deeper/3.csv', csvOfRows(columns, rows.slice(0, 10)))

acceptSource({
  ...both,
  connector: azureBlobStorageSource,
  columns,
  rows,
  settings: { blobUri: `${azure.address('people')}daily/` },
  missing: { blobUri: azure.address('missing-container') },
})

// Each batch is a separate block.
const sent = someRows(600, 20_000)
acceptDestination({
  ...both,
  connector: azureBlobStorageDestination,
  columns: sent.columns,
  rows: sent.rows,
  settings: { outputPath: `${azure.address('out')}exports/`, fileFormat: 'CSV', gzipOutput: false },
  missing: { outputPath: azure.address('missing-container'), fileFormat: 'CSV', gzipOutput: false },
  async readBack() {
    const names = await azure.names('out', 'exports/')
    assert.ok(names.length <= 1, `one file, and not ${names.join(', ')}`)
    return names[0] === undefined ? [] : rowsOfCsv(await azure.read('out', names[0]))
  },
  reset: () => azure.empty('out', 'exports/'),
  deduplicates: true,
  visible: 'when finished',
})
