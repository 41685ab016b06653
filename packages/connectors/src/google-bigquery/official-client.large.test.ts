import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { BigQuery, type Job } from '@google-cloud/bigquery'
import { startBigQueryServer } from '../../test/bigquery-server.ts'
import { googleCredentials } from '../../test/google-client.ts'

/** Google's own client makes the calls of the connectors, and understands the answers of the test server. */

const server = await startBigQueryServer()
const folder = await mkdtemp(join(tmpdir(), 'penstock-bigquery-client-'))
after(async () => {
  await server.close()
  await rm(folder, { recursive: true })
})
await server.run(`
  create table crm.people as
  select i as id, case when i % 3 > 0 then 'Zoë ' || i end as name, i % 2 = 0 as member, i / 4 as score,
         (i / 4)::decimal(12, 2) as paid, date '2026-01-31' as day,
         timestamp '2026-01-31 12:00:00' + interval (i) microsecond as changed
    from range(1, 5001) as numbers(i)`)

const projectId = 'example-project'
const url = server.proxy.url
const bigQuery = new BigQuery({
  projectId,
  authClient: googleCredentials(url, server, 'bigquery'),
  apiEndpoint: url,
  location: 'europe-west3',
  autoRetry: false,
})
const crm = bigQuery.dataset('crm')
const namesOf = (all: readonly { id?: string | undefined }[]) => all.map(({ id }) => id)
/** The status and the reasons with which a call is refused. */
const refusalOf = (call: Promise<unknown>) =>
  call.then(
    () => assert.fail('not refused'),
    ({ code, errors }) => ({ code, reasons: errors.map(({ reason }: { reason: string }) => reason) }),
  )
const ended = (job: Job) =>
  new Promise<{ status?: object; statistics?: object }>((resolve, reject) => {
    job.on('complete', resolve).on('error', reject)
  })

test('lists datasets and tables, page after page', async () => {
  assert.deepEqual(namesOf((await bigQuery.getDatasets())[0]), ['crm', 'logs', 'web'])
  assert.deepEqual(namesOf((await crm.getTables())[0]), ['people'])
  assert.equal((await crm.get())[0].metadata.friendlyName, 'Customers')
  assert.deepEqual(await refusalOf(bigQuery.dataset('absent').get()), { code: 404, reasons: ['notFound'] })
})

test('creates, describes and removes a table', async () => {
  const schema = [
    { name: 'id', type: 'INTEGER', mode: 'REQUIRED' },
    { name: 'paid', type: 'NUMERIC', precision: '12', scale: '2' },
    { name: 'note', type: 'STRING' },
  ]
  const [table] = await crm.createTable('orders', { schema })
  const [{ schema: described, location, type }] = await table.getMetadata()
  assert.deepEqual(
    described.fields,
    schema.map((field) => ({ mode: 'NULLABLE', ...field })),
  )
  assert.deepEqual({ location, type }, { location: 'europe-west3', type: 'TABLE' })
  assert.deepEqual(await refusalOf(crm.createTable('orders', { schema })), { code: 409, reasons: ['duplicate'] })
  await table.delete()
  assert.deepEqual(await table.exists(), [false])
})

test('runs a query as a job, and reads its result page after page', async () => {
  const [job] = await bigQuery.createQueryJob({
    query: 'select * from crm.people where id > @id order by id',
    params: { id: 4 },
    defaultDataset: { projectId, datasetId: 'crm' },
    maximumBytesBilled: '1000000',
    jobTimeoutMs: 60_000,
    labels: { tool: 'penstock' },
  })
  const [rows] = await job.getQueryResults()
  assert.equal(rows.length, 4996)
  assert.equal(
    JSON.stringify(rows[0]),
    JSON.stringify({
      id: 5,
      name: 'Zoë 5',
      member: false,
      score: 1.25,
      paid: '1.25',
      day: { value: '2026-01-31' },
      changed: { value: '2026-01-31T12:00:00.000005' },
    }),
  )
  assert.deepEqual(server.given.slice(-2), [0, 3000])
})

test('examines a query without running it', async () => {
  const [{ metadata }] = await bigQuery.createQueryJob({ query: 'select id, day from crm.people', dryRun: true })
  const { totalBytesProcessed, query } = metadata.statistics
  assert.equal(totalBytesProcessed, '1000')
  assert.deepEqual(query.schema.fields, [
    { name: 'id', type: 'INTEGER', mode: 'NULLABLE' },
    { name: 'day', type: 'DATE', mode: 'NULLABLE' },
  ])
  assert.deepEqual(
    server.executed.filter((text) => text.startsWith('select id, day')),
    [],
  )
})

test('waits for a job that runs, and cancels it', async () => {
  server.polls = 2
  try {
    const [job] = await bigQuery.createQueryJob({ query: 'select 1 as one' })
    const [{ status }] = await job.getMetadata()
    assert.equal(status.state, 'RUNNING')
    const [{ job: cancelled }] = await job.cancel()
    assert.equal(cancelled?.jobReference?.jobId, job.id)
    assert.equal(server.cancelled.at(-1), job.id)
    assert.deepEqual((await ended(job)).status, { state: 'DONE' })
  } finally {
    server.polls = 0
  }
})

test('reports why a query, a job or a result is refused', async () => {
  const resultOf = async (query: string) => (await bigQuery.createQueryJob({ query }))[0].getQueryResults()
  assert.deepEqual(await refusalOf(resultOf('selec 1')), { code: 400, reasons: ['invalidQuery'] })
  assert.deepEqual(await refusalOf(resultOf('select * from crm.absent')), { code: 404, reasons: ['notFound'] })
  const costly = { query: 'select 1 as one', maximumBytesBilled: '10' }
  assert.deepEqual(await refusalOf(bigQuery.createQueryJob(costly)), {
    code: 400,
    reasons: ['bytesBilledLimitExceeded'],
  })
  const [job] = await bigQuery.createQueryJob({ query: 'select 1 as one', jobId: randomUUID() })
  const again = bigQuery.createQueryJob({ query: 'select 1 as one', jobId: job.id ?? '' })
  assert.deepEqual(await refusalOf(again), { code: 409, reasons: ['duplicate'] })
  server.failures.push('backendError')
  const [failed] = await bigQuery.createQueryJob({ query: 'select 1 as one' })
  assert.deepEqual(await refusalOf(ended(failed)), { code: undefined, reasons: ['backendError'] })
})

test('loads lines of JSON that it uploads', async () => {
  const [table] = await crm.createTable('loaded', {
    schema: [
      { name: 'id', type: 'INTEGER', mode: 'REQUIRED' },
      { name: 'at', type: 'TIMESTAMP' },
    ],
  })
  const load = async (lines: string) => {
    const file = join(folder, 'lines.json')
    await writeFile(file, lines)
    const [job] = await table.load(file, {
      sourceFormat: 'NEWLINE_DELIMITED_JSON',
      createDisposition: 'CREATE_NEVER',
      writeDisposition: 'WRITE_APPEND',
      maxBadRecords: 0,
      encoding: 'UTF-8',
    })
    return job.status
  }
  assert.deepEqual(await load('{"id":1,"at":"2026-01-31T12:00:00Z"}\n{"id":"2"}\n'), { state: 'DONE' })
  const { code, reasons } = await refusalOf(load('{"id":3}\n{"id":"three"}\n'))
  assert.deepEqual({ code, reasons }, { code: undefined, reasons: ['invalid', 'invalid'] })
  const [job] = await bigQuery.createQueryJob('select * from crm.loaded order by id')
  const [rows] = await job.getQueryResults()
  assert.equal(
    JSON.stringify(rows),
    JSON.stringify([
      { id: 1, at: { value: '2026-01-31T12:00:00.000Z' } },
      { id: 2, at: null },
    ]),
  )
})

test('extracts a result into a bucket, and loads files from it', async () => {
  const files = new Map<string, { bytes: Buffer }>()
  server.storage = {
    put: (_, name, bytes) => files.set(name, { bytes: Buffer.from(bytes) }),
    buckets: new Map([['exports', files]]),
  }
  const [query] = await bigQuery.createQueryJob('select id, name from crm.people where id < 4 order by id')
  const [{ configuration }] = await query.getMetadata()
  const extract = {
    sourceTable: configuration.query.destinationTable,
    destinationUris: ['gs://exports/people-*.csv'],
    destinationFormat: 'CSV',
    compression: 'NONE',
    fieldDelimiter: ',',
    printHeader: true,
  }
  const extracted = await ended((await bigQuery.createJob({ configuration: { extract } }))[0])
  assert.deepEqual(extracted.statistics, { extract: { destinationUriFileCounts: ['2'] } })
  assert.deepEqual(
    [...files].map(([name, { bytes }]) => [name, String(bytes)]),
    [
      ['people-000000000000.csv', 'id,name\n1,Zoë 1\n2,Zoë 2\n'],
      ['people-000000000001.csv', 'id,name\n3,\n'],
    ],
  )
  const [table] = await crm.createTable('from_files', {
    schema: ['id', 'name'].map((name) => ({ name, type: 'STRING' })),
  })
  const load = {
    sourceUris: [...files.keys()].map((name) => `gs://exports/${name}`),
    destinationTable: { projectId, datasetId: 'crm', tableId: table.id ?? '' },
    sourceFormat: 'CSV',
    encoding: 'UTF-8',
    fieldDelimiter: ',',
    quote: '"',
    skipLeadingRows: 1,
    allowQuotedNewlines: true,
    allowJaggedRows: false,
    ignoreUnknownValues: false,
    preserveAsciiControlCharacters: true,
    maxBadRecords: 2 ** 31 - 1,
    createDisposition: 'CREATE_NEVER',
    writeDisposition: 'WRITE_APPEND',
  }
  const loaded = await ended((await bigQuery.createJob({ configuration: { load } }))[0])
  assert.deepEqual(loaded.statistics, { load: { outputRows: '3', badRecords: '0' } })
})
