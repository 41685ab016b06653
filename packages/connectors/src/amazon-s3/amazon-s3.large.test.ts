import assert from 'node:assert/strict'
import { after } from 'node:test'
import { gzipSync } from 'node:zlib'
import { acceptDestination, acceptSource } from '@penstock/connector/acceptance'
import { csvOfRows, hangOf, problemsOf, rowsOfCsv, someRows } from '../../test/object-store-server.ts'
import { startS3TestServer, testServerName } from '../../test/s3-server.ts'
import { refuse } from '../../test/s3-signature.ts'
import { amazonS3Destination } from './amazon-s3-destination.ts'
import { amazonS3Source } from './amazon-s3-source.ts'

const s3 = await startS3TestServer(
  ['people', 'out'],
  [{ id: 'AKIDEXAMPLE', secret: 'wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY' }],
)
after(() => s3.close())
const { proxy, secrets } = s3
const wrongSecrets = { ...secrets, secretAccessKey: 'ThisIsTheSecretOfAnother' }
const both = {
  testServer: testServerName,
  secrets,
  wrongSecrets,
  errors: problemsOf(proxy, { slow: refuse(503, 'SlowDown'), forbidden: refuse(403, 'AccessDenied') }),
  hang: hangOf(proxy),
}

const { columns, rows } = someRows(60_000)
const half = rows.length / 2
await s3.put('people', 'daily/1.csv', csvOfRows(columns, rows.slice(0, half)))
await s3.put('people', 'daily/2.csv.gz', gzipSync(csvOfRows(columns, rows.slice(half))))
await s3.put('people', 'daily/_SUCCESS', 'fauxqs cannot take an empty object')
await s3.put('people', 'daily/notes.md', '# no rows')
await s3.put('people', 'daily/deeper/3.csv', csvOfRows(columns, rows.slice(0, 10)))

acceptSource({
  ...both,
  connector: amazonS3Source,
  columns,
  rows,
  settings: { bucketUri: 's3://people/daily/' },
  missing: { bucketUri: 's3://missing-bucket/daily/' },
})

// Each batch is a separate part.
const sent = someRows(600, 90_000)
acceptDestination({
  ...both,
  connector: amazonS3Destination,
  columns: sent.columns,
  rows: sent.rows,
  settings: { outputPath: 's3://out/exports/', fileFormat: 'CSV', gzip: false },
  missing: { outputPath: 's3://missing-bucket/', fileFormat: 'CSV', gzip: false },
  async readBack() {
    const names = await s3.names('out', 'exports/')
    assert.ok(names.length <= 1, `one file, and not ${names.join(', ')}`)
    return names[0] === undefined ? [] : rowsOfCsv(await s3.read('out', names[0]))
  },
  reset: () => s3.empty('out', 'exports/'),
  deduplicates: true,
  visible: 'when finished',
})
