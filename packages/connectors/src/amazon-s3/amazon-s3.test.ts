import assert from 'node:assert/strict'
import { after } from 'node:test'
import { gzipSync } from 'node:zlib'
import { acceptDestination, acceptSource, testContext } from '@penstock/connector/acceptance'
import { buildApp } from 'fauxqs'
import { csvOfRows, faultsOf, hangOf, rowsOfCsv, someRows } from '../../test/object-store-peer.ts'
import { judgeS3, refuse } from '../../test/s3-signature.ts'
import { startTroubledProxy } from '../../test/troubled-proxy.ts'
import { amazonS3Destination } from './amazon-s3-destination.ts'
import { amazonS3Source } from './amazon-s3-source.ts'
import { makeS3Client } from './s3-client.ts'
import { s3Objects } from './s3-objects.ts'

const key = { id: 'AKIDEXAMPLE', secret: 'wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY' }
const session = { id: 'ASIAEXAMPLE', secret: 'AnotherSecretOfAws', token: 'session//token+of=aws' }

// Started by hand, since its own start listens on every address of the machine.
const fauxqs = buildApp({ logger: false })
const proxy = await startTroubledProxy(await fauxqs.listen({ port: 0, host: '127.0.0.1' }), judgeS3([key, session]))
after(async () => {
  await proxy.close()
  await fauxqs.close()
})

const secrets = { accessKeyId: key.id, secretAccessKey: key.secret, endpoint: proxy.url }
const wrongSecrets = { ...secrets, secretAccessKey: 'ThisIsTheSecretOfAnother' }
const peer = 'fauxqs behind a proxy that verifies signatures'
const client = makeS3Client(testContext({ secrets }))
const makeBucket = async (bucket: string) => {
  await client.request({ method: 'PUT', bucket, permission: 's3:CreateBucket' })
}
const put = async (bucket: string, name: string, body: Uint8Array | string) => {
  await client.request({ method: 'PUT', bucket, key: name, body, permission: 's3:PutObject' })
}
const read = async (bucket: string, name: string): Promise<Buffer> =>
  Buffer.from(await (await client.request({ bucket, key: name, permission: 's3:GetObject' })).arrayBuffer())
const namesIn = async (bucket: string): Promise<string[]> => {
  const names: string[] = []
  for await (const { name } of s3Objects(client, bucket).list('exports/')) names.push(name)
  return names
}

for (const bucket of ['people', 'out', 'odd']) await makeBucket(bucket)
const { columns, rows } = someRows(60_000)
const half = rows.length / 2
await put('people', 'daily/1.csv', csvOfRows(columns, rows.slice(0, half)))
await put('people', 'daily/2.csv.gz', gzipSync(csvOfRows(columns, rows.slice(half))))
await put('people', 'daily/_SUCCESS', 'fauxqs cannot take an empty object')
await put('people', 'daily/notes.md', '# no rows')
await put('people', 'daily/deeper/3.csv', csvOfRows(columns, rows.slice(0, 10)))

acceptSource({
  ...{ connector: amazonS3Source, peer, secrets, wrongSecrets, columns, rows },
  settings: { bucketUri: 's3://people/daily/' },
  missing: { bucketUri: 's3://nobodys-bucket/daily/' },
  faults: faultsOf(proxy, { slow: refuse(503, 'SlowDown'), forbidden: refuse(403, 'AccessDenied') }),
  hang: hangOf(proxy),
})

const sent = someRows(2_000)
acceptDestination({
  ...{ connector: amazonS3Destination, peer, secrets, wrongSecrets, columns: sent.columns, rows: sent.rows },
  settings: { outputPath: 's3://out/exports/', fileFormat: 'CSV', gzip: false },
  missing: { outputPath: 's3://nobodys-bucket/', fileFormat: 'CSV', gzip: false },
  async readBack() {
    const names = await namesIn('out')
    assert.ok(names.length <= 1, `one file, and not ${names.join(', ')}`)
    return names[0] === undefined ? [] : rowsOfCsv(await read('out', names[0]))
  },
  async reset() {
    for (const name of await namesIn('out')) {
      await client.request({ method: 'DELETE', bucket: 'out', key: name, permission: 's3:DeleteObject' })
    }
  },
  ...{ deduplicates: true, visible: 'when finished' },
  faults: faultsOf(proxy, { slow: refuse(503, 'SlowDown'), forbidden: refuse(403, 'AccessDenied') }),
  hang: hangOf(proxy),
})
