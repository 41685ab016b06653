import assert from 'node:assert/strict'
import { readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, beforeEach, describe, test } from 'node:test'
import { gzipSync } from 'node:zlib'
import { bucket, databricksDestination, s3Source, spawnHandoverWorker, startLake } from './harness/handover.ts'
import { assertInvariants } from './harness/invariants.ts'
import { peopleCsv, personLine, startMoving } from './harness/moving.ts'
import { withoutValue } from './harness/reasons.ts'
import { queuedAgain } from './harness/standings.ts'
import { bounded } from './harness/until.ts'

/** Files of S3 that Databricks loads itself: counts, rejected rows, the reasons for a worker, and crashes. */

const stores = await startLake()
after(() => stores.close())
const { s3, databricks } = stores
const moving = await startMoving(
  stores.routes,
  [s3Source, stores.s3Secrets],
  [databricksDestination, databricks.secrets],
)
const { fixture, caller, accountId, service, work, move, log } = moving

const writing = {
  warehouse: 'wh1',
  catalog: 'main',
  schema: 'crm',
  table: 'people',
  volume: 'landing',
  writeMode: 'Append',
  loadFiles: true,
}
const connect = (folder: string, own: Record<string, string | boolean> = {}) =>
  fixture.connect(s3Source, { bucketUri: `s3://${bucket}/${folder}/` }, databricksDestination, { ...writing, ...own })

const rejectsOf = async (id: string, transferId: string): Promise<string[]> =>
  (await caller.expect(caller.call('listRejects', { accountId, id, transferId })))
    // A worker quotes the value, and a platform does not know it.
    .map(({ field, reason }) => `${field}: ${withoutValue(reason)}`)
    .sort()

const inTable = async () => (await databricks.run('select * from crm.people order by id, name')).rows
const tables = async () =>
  (await databricks.run(`select table_name from duckdb_tables() where table_name like 'penstock%'`)).rows
const folders = () => [...databricks.files.keys()].filter((path) => !path.endsWith('.json'))

describe('files that Databricks loads', () => {
  beforeEach(async () => {
    await databricks.run('drop table if exists crm.people')
    await databricks.run(
      'create table crm.people (id bigint not null, name varchar, paid decimal(12, 2), changed timestamp, day date, ok boolean, share double)',
    )
    databricks.before = undefined
    databricks.executed.length = 0
  })

  test('are loaded as a worker would write them, and counted by the staging table', async () => {
    await s3.put(bucket, 'plain/1.csv', peopleCsv(1, 300))
    await s3.put(bucket, 'plain/2.csv.gz', gzipSync(peopleCsv(301, 200).replaceAll(',', ';')))
    const types = [
      'name,id,changed,paid,day,ok,share',
      'Last,501,2026-01-31 11:00:00,7,2024-02-29,yes,1e3',
      '"",+502.0,2026-01-31T10:20Z,.5,,F,0.30000000000000004',
      ',503,2026-01-31 10:20:30.123456000+0130,-1.,2026-01-31,0,',
      'x,504,2026-01-31,,,,-0.25',
    ]
    await s3.put(bucket, 'types/1.csv', [...types, ''].join('\n'))
    for (const [folder, count] of [
      ['plain', 500],
      ['types', 4],
    ] as const) {
      await databricks.run('delete from crm.people')
      databricks.executed.length = 0
      const id = await connect(folder)
      const transfer = await move(id)
      assert.deepEqual(await rejectsOf(id, transfer.id), [])
      assert.equal(transfer.status, 'succeeded', JSON.stringify(transfer.error))
      assert.deepEqual(transfer.records, { read: count, sent: count, accepted: count, rejected: 0 })
      const byFiles = await inTable()
      assert.ok(!databricks.executed.some((text) => text.includes('json')), 'no row came from a worker')
      assert.ok(!databricks.executed.some((text) => text.includes(stores.s3Secrets.secretAccessKey)))
      assert.match(await log(id, transfer.id), /Databricks Data Store loads the files itself/)
      await databricks.run('delete from crm.people')
      assert.equal((await move(await connect(folder, { loadFiles: false }))).records.accepted, count)
      assert.deepEqual(await inTable(), byFiles)
    }
    // A later transfer loads the same files again.
    assert.equal((await move(await connect('plain'))).records.accepted, 500)
    assert.equal((await inTable()).length, 504)
    assert.deepEqual([await tables(), folders()], [[], []])
    await assertInvariants(service.database.pool)
  })

  test('have the values of Parquet files as a worker would write them, or pass one', async () => {
    const file = join(tmpdir(), `penstock-${process.pid}.parquet`)
    const put = async (name: string, select: string) => {
      await databricks.run(`copy (${select}) to '${file}' (format parquet)`)
      await s3.put(bucket, name, await readFile(file))
    }
    await put(
      'typed/1.parquet',
      `select i::bigint as id, case when i % 7 = 0 then '' when i % 5 <> 0 then 'Zoë ' || i end as name, (i * 1.25)::decimal(9, 3) as paid,
        timestamp '2026-01-31 10:20:30.123456' + i * interval 1 day as changed, date '2026-01-31' + i::int as day, i % 2 = 0 as ok,
        i / 3 as share from range(1, 301) as t(i)`,
    )
    await put(
      'typed/2.parquet',
      `select 999 as id, null::varchar as name, 1.005::decimal(9, 3) as paid, null::timestamp as changed, null::date as day, true as ok, 0.1::double as share`.replace(
        '999 as id',
        '999::bigint as id',
      ),
    )
    const outcome = async (loadFiles: boolean) => {
      await databricks.run('delete from crm.people')
      const id = await connect('typed', { loadFiles })
      const { id: transferId, records } = await move(id)
      return { records, rejects: await rejectsOf(id, transferId), rows: await inTable() }
    }
    const byFiles = await outcome(true)
    assert.deepEqual(byFiles.records, { read: 301, sent: 301, accepted: 300, rejected: 1 })
    assert.ok(!databricks.executed.some((text) => text.includes('json')), 'no row came from a worker')
    assert.deepEqual(await outcome(false), byFiles)
    await put('list/1.parquet', 'select 1::bigint as id, [1, 2] as name')
    await put('odd/1.parquet', 'select 1.0::double as id')
    const reasonOf = async (folder: string) => {
      const id = await connect(folder)
      return /because (.*)\./.exec(await log(id, (await move(id)).id))?.[1]
    }
    assert.equal(await reasonOf('list'), 'the files have the type list for the column name, and the table has STRING')
    assert.equal(await reasonOf('odd'), 'the files have the type double for the column id, and the table has BIGINT')
    await rm(file)
  })

  test('reject single rows with the reason and the column, as a worker does', async () => {
    const bad = [
      'many,a,1,,,,',
      ',a,1,,,,',
      '1.5,a,1,,,,',
      '9223372036854775808,a,1,,,,',
      '2,a,1.005,,,,',
      '3,a,99999999999.5,,,,',
      '4,a,1,yesterday,,,',
      '5,a,1,,2025-02-29,,',
      '6,a,1,,,maybe,',
      '7,a,1,,,,9007199254740993',
      '8,a,1,,,,0.10000000000000001',
      '9,a,1,,,,1e399',
    ]
    await s3.put(bucket, 'bad/1.csv', ['id,name,paid,changed,day,ok,share', '1,good,1,,,,', ...bad, ''].join('\n'))
    const outcome = async (loadFiles: boolean) => {
      const id = await connect('bad', { loadFiles })
      const { id: transferId, records } = await move(id)
      return { records, rejects: await rejectsOf(id, transferId) }
    }
    const byFiles = await outcome(true)
    assert.deepEqual(byFiles.records, { read: 13, sent: 13, accepted: 1, rejected: 12 })
    assert.deepEqual(await outcome(false), byFiles)
    const widths = ['1,a', '2,b', '3,too,many', '4', '']
    await s3.put(
      bucket,
      'wide/1.csv',
      Buffer.concat([Buffer.from(['id,name', ...widths].join('\n')), Buffer.from([0x37, 0x2c, 0xff, 0x0a])]),
    )
    const id = await connect('wide')
    const transfer = await move(id)
    assert.deepEqual(transfer.records, { read: 5, sent: 5, accepted: 2, rejected: 3 })
    assert.deepEqual(await rejectsOf(id, transfer.id), [
      'name: … is not valid UTF-8 text.',
      'null: The row has another number of values than the header.',
      'null: The row has another number of values than the header.',
    ])
  })

  test('replace the table as a whole, and update rows by their key', async () => {
    await databricks.run(`insert into crm.people (id, name) values (7777, 'old'), (2, 'old')`)
    await s3.put(bucket, 'whole/1.csv', peopleCsv(1, 100))
    const upsert = { writeMode: 'Upsert', keyColumns: 'id' }
    assert.equal((await move(await connect('whole', upsert))).records.accepted, 100)
    assert.equal((await inTable()).length, 101)
    assert.equal((await move(await connect('whole', { writeMode: 'Replace' }))).records.accepted, 100)
    assert.equal((await inTable()).length, 100)
    await s3.put(bucket, 'twice/1.csv', peopleCsv(1, 3, [personLine(2)]))
    const twice = await move(await connect('twice', upsert))
    assert.equal(twice.error?.code, 'invalid_key')
    assert.match(twice.error?.message ?? '', /^1 keys are in several rows of the files/)
    assert.deepEqual(await tables(), [])
  })

  test('pass a worker where something needs one, and fail where Databricks may not read the bucket', async () => {
    await s3.put(bucket, 'one/1.csv', peopleCsv(1, 3))
    await s3.put(bucket, 'star/a*.csv', peopleCsv(1, 3))
    await s3.put(bucket, 'named/packed.csv', gzipSync(peopleCsv(1, 3)))
    const reasonOf = async (folder: string, own: Record<string, string | boolean> = {}) => {
      const id = await connect(folder, own)
      const transfer = await move(id)
      assert.equal(transfer.status, 'succeeded', JSON.stringify(transfer.error))
      return /Rows pass a worker, because (.*)\./.exec(await log(id, transfer.id))?.[1]
    }
    assert.equal(await reasonOf('star'), 'the name of star/a*.csv has a sign that means something else to Databricks')
    assert.equal(await reasonOf('named'), 'the name of named/packed.csv does not say how it is compressed')
    await databricks.run('create table crm.odd (id bigint, name varchar, paid real, changed timestamp)')
    assert.equal(await reasonOf('one', { table: 'odd' }), 'the column paid of the table has the type FLOAT')
    const { storage } = databricks
    databricks.storage = undefined
    const barred = await move(await connect('one'))
    databricks.storage = storage
    assert.match(barred.error?.message ?? '', /check that an external location of Unity Catalog has s3:\/\/landing/)
  })

  test('are each loaded once where a worker is killed at any statement', async () => {
    for (let file = 0; file < 4; file++) {
      await s3.put(bucket, `killed/${file}.csv`, peopleCsv(file * 50, 50, [`bad ${file},a,1,`]))
    }
    const id = await connect('killed')
    const { id: transferId } = await fixture.start(id)
    const given = moving.worker
    const statements = ['create or replace', 'insert into', 'select misfit', 'insert overwrite directory', 'copy into']
    for (const at of statements) {
      const child = spawnHandoverWorker(given)
      // The statement runs anyway. Only the response is lost.
      const reached = new Promise<void>((resolve) => {
        databricks.before = (statement) => {
          if (!statement.startsWith(at) || child.killed) return
          child.kill('SIGKILL')
          resolve()
        }
      })
      await bounded(`the worker sends ${at}`, reached, 60_000)
      await bounded('it is gone', child.ended, 60_000)
      databricks.before = undefined
      await service.database.pool.query(queuedAgain(`id = $1 and status = 'running'`), [transferId])
    }
    await work()
    const transfer = await fixture.get(id, transferId)
    assert.equal(transfer.status, 'partial', JSON.stringify(transfer.error))
    assert.deepEqual(transfer.records, { read: 204, sent: 204, accepted: 200, rejected: 4 })
    const ids = (await inTable()).map(([one]) => Number(one))
    assert.deepEqual(
      ids,
      Array.from({ length: 200 }, (_, index) => index),
    )
    assert.deepEqual([await tables(), folders()], [[], []])
    await assertInvariants(service.database.pool)
  })
})
