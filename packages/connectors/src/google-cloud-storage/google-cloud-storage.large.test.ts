import assert from 'node:assert/strict'
import { after } from 'node:test'
import { gzipSync } from 'node:zlib'
import { acceptDestination, acceptSource } from '@penstock/connector/acceptance'
import type { Judged } from '../../test/failing-proxy.ts'
import { startGcsServer, testServerName } from '../../test/gcs-server.ts'
import { csvOfRows, hangOf, problemsOf, rowsOfCsv, someRows } from '../../test/object-store-server.ts'
import { googleCloudStorageDestination } from './google-cloud-storage-destination.ts'
import { googleCloudStorageSource } from './google-cloud-storage-source.ts'

const gcs = await startGcsServer(['people', 'out'])
after(() => gcs.close())
const { proxy, routes } = gcs
const refused = (code: number, reason: string) => ({
  status: code,
  body: JSON.stringify({
    error: { code, message: 'No.', errors: [{ domain: 'usageLimits', reason, message: 'No.' }] },
  }),
})
const ofStorage = ({ headers }: Judged) => headers.host === 'storage.googleapis.com'
const failing = problemsOf(
  proxy,
  { slow: refused(403, 'rateLimitExceeded'), forbidden: refused(403, 'forbidden') },
  ofStorage,
)
const both = {
  testServer: testServerName,
  secrets: { jsonKey: gcs.jsonKey },
  wrongSecrets: { jsonKey: gcs.deletedKey },
  context: { routes },
  errors: failing,
  hang: hangOf(proxy),
}

const { columns, rows } = someRows(60_000)
const half = rows.length / 2
gcs.put('people', 'daily/1.csv', csvOfRows(columns, rows.slice(0, half)))
gcs.put('people', 'daily/2.csv.gz', gzipSync(csvOfRows(columns, rows.slice(half))))
gcs.put('people', 'daily/_SUCCESS', '')
gcs.put('people', 'daily/deeper/3.csv', csvOfRows(columns, rows.slice(0, 10)))

acceptSource({
  ...both,
  connector: googleCloudStorageSource,
  columns,
  rows,
  settings: { bucketUri: 'gs://people/daily/' },
  missing: { bucketUri: 'gs://missing-bucket/daily/' },
})

// Each batch is a separate part.
const sent = someRows(600, 20_000)
acceptDestination({
  ...both,
  connector: googleCloudStorageDestination,
  columns: sent.columns,
  rows: sent.rows,
  settings: { outputPath: 'gs://out/exports/', fileFormat: 'CSV', gzipOutput: false },
  missing: { outputPath: 'gs://missing-bucket/', fileFormat: 'CSV', gzipOutput: false },
  async readBack() {
    const files = [...(gcs.buckets.get('out') ?? [])].filter(([name]) => !name.startsWith('exports/.penstock/'))
    assert.ok(files.length <= 1, `one file, and not ${files.length}`)
    return files[0] === undefined ? [] : rowsOfCsv(files[0][1].bytes)
  },
  reset: () => gcs.buckets.get('out')?.clear(),
  deduplicates: true,
  visible: 'when finished',
})
