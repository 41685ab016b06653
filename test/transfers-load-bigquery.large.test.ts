import assert from 'node:assert/strict'
import { readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, beforeEach, describe, test } from 'node:test'
import { gzipSync, zstdCompressSync } from 'node:zlib'
import { bigQueryDestination, bucket, gcsSource, spawnHandoverWorker, startGoogleStores } from './harness/handover.ts'
import { assertInvariants } from './harness/invariants.ts'
import { peopleCsv, startMoving } from './harness/moving.ts'
import { withoutValue } from './harness/reasons.ts'
import { queuedAgain } from './harness/standings.ts'
import { bounded } from './harness/until.ts'

/** Files of Cloud Storage that BigQuery loads itself: counts, rejected rows, the reasons for a worker, and crashes. */

const stores = await startGoogleStores()
after(() => stores.close())
const { bigQuery, gcs } = stores
const moving = await startMoving(
  stores.routes,
  [gcsSource, { jsonKey: bigQuery.jsonKey }],
  [bigQueryDestination, { jsonKey: bigQuery.jsonKey }],
)
const { fixture, caller, accountId, service, work, move, log } = moving

const writing = { projectId: 'example-project', dataset: 'crm', table: 'people', writeMode: 'Append', loadFiles: true }
const connect = (folder: string, own: Record<string, string | boolean> = {}) =>
  fixture.connect(gcsSource, { bucketUri: `gs://${bucket}/${folder}/` }, bigQueryDestination, { ...writing, ...own })

const put = (name: string, content: Uint8Array | string) => gcs.put(bucket, name, content)

type Rows = readonly (readonly (string | null)[])[]
const query = async (text: string): Promise<Rows> => ((await bigQuery.run(text)) as { rows: Rows }).rows
const inTable = () => query('select * from crm.people order by id')
const tables = () => query(`select table_name from duckdb_tables() where table_name like 'penstock%'`)

describe('files that BigQuery loads', () => {
  beforeEach(async () => {
    await bigQuery.run('drop table if exists crm.people')
    await bigQuery.run(
      'create table crm.people (id bigint not null, name varchar, paid decimal(12, 2), changed timestamp, seen timestamp_s, day date, clock time, ok boolean, share double)',
    )
    Object.assign(bigQuery, { before: undefined, storage: gcs })
    bigQuery.executed.length = 0
    bigQuery.loaded.length = 0
  })

  test('are loaded as a worker would write them, and counted by its report', async () => {
    put('plain/1.csv', peopleCsv(1, 300))
    put('plain/2.csv.gz', gzipSync(peopleCsv(301, 200).replaceAll(',', ';')))
    put('plain/3.csv', 'name,id,changed,paid\nLast,501,2026-01-31 11:00:00,7\n"", 502 ,,\n')
    const id = await connect('plain')
    const transfer = await move(id)
    assert.equal(transfer.status, 'succeeded', JSON.stringify(transfer.error))
    assert.deepEqual(transfer.records, { read: 502, sent: 502, accepted: 502, rejected: 0 })
    const byFiles = await inTable()
    assert.equal(byFiles.length, 502)
    assert.deepEqual(bigQuery.loaded, [], 'no row came from a worker')
    assert.match(await log(id, transfer.id), /Google BigQuery Data Store loads the files itself/)
    assert.deepEqual(await tables(), [])
    await bigQuery.run('delete from crm.people')
    assert.equal((await move(await connect('plain', { loadFiles: false }))).records.accepted, 502)
    assert.deepEqual(await inTable(), byFiles)
    await assertInvariants(service.database.pool)
  })

  test('have values of each type like those of a worker', async () => {
    const rows = [
      '1,1.50,2026-01-31,2026-01-31,2026-01-31,10:20,yes,1e3',
      '+2.0,.5,2026-01-31T10:20,2026-01-31 10:20:30Z,,10:20:30.5,F,-0.25',
      '3,-1.,2026-01-31 10:20:30.123456000+0130,2026-01-31T10:20:30-02,2024-02-29,10:20:30.1234560,1,',
      '-0,"",2026-01-31 10:20:30.5 +01:00,2026-01-31T10:20:30+05:30,,,n,0.30000000000000004',
    ]
    put('types/1.csv', ['id,paid,changed,seen,day,clock,ok,share', ...rows, ''].join('\n'))
    const id = await connect('types')
    const byFiles = await move(id)
    const rejects = await caller.expect(caller.call('listRejects', { accountId, id, transferId: byFiles.id }))
    assert.deepEqual(rejects, [])
    assert.deepEqual(byFiles.records, { read: 4, sent: 4, accepted: 4, rejected: 0 })
    const loaded = await inTable()
    await bigQuery.run('delete from crm.people')
    assert.equal((await move(await connect('types', { loadFiles: false }))).records.accepted, 4)
    assert.deepEqual(await inTable(), loaded)
    const bad = [
      '1.5,,,,,,,',
      '9223372036854775808,,,,,,,',
      '1,,,,2025-02-29,,,',
      '1,,,,,25:00,,',
      '1,,,,,10:20:30.1234567,,',
      '1,,,,,,maybe,',
      '1,,,,,,,1e999',
      '1,,,,,,,9007199254740993',
      '1,,,,,,,0.10000000000000001',
      '1,,,,,,,1e-400',
      '1,,2026-01-31 Europe/Paris,,,,,',
      '1,,,2026-02-30T10:00:00Z,,,,',
    ]
    put('wrong/1.csv', ['id,paid,changed,seen,day,clock,ok,share', ...bad, ''].join('\n'))
    const reasons = async (loadFiles: boolean) => {
      const id = await connect('wrong', { loadFiles })
      const { id: transferId } = await move(id)
      const rejects = await caller.expect(caller.call('listRejects', { accountId, id, transferId }))
      return rejects.map(({ field, reason }) => `${field}: ${withoutValue(reason)}`).sort()
    }
    const wrong = await reasons(true)
    assert.equal(wrong.length, bad.length)
    // A worker has a separate message for names of time zones, and for an exponent that no number can have.
    const known = (lines: string[]) => lines.filter((line) => !/^(changed|seen|share)/.test(line))
    assert.deepEqual(known(wrong), known(await reasons(false)))
  })

  test('have the values of Parquet files as a worker would write them, or pass one', async () => {
    const file = join(tmpdir(), `penstock-bigquery-${process.pid}.parquet`)
    const putParquet = async (name: string, select: string) => {
      await bigQuery.run(`copy (${select}) to '${file}' (format parquet)`)
      put(name, await readFile(file))
    }
    await putParquet(
      'typed/1.parquet',
      `select i::bigint as id, case when i % 7 = 0 then '' when i % 5 <> 0 then 'Zoë ' || i end as name, (i * 1.25)::decimal(9, 3) as paid,
        timestamp '2026-01-31 10:20:30.123456' + i * interval 1 day as changed, date '2026-01-31' + i::int as day, i % 2 = 0 as ok,
        i / 3 as share from range(1, 301) as t(i)`,
    )
    await putParquet(
      'typed/2.parquet',
      'select 999::bigint as id, null::varchar as name, 1.005::decimal(9, 3) as paid, null::timestamp as changed, null::date as day, true as ok, 0.1::double as share',
    )
    const outcome = async (loadFiles: boolean) => {
      await bigQuery.run('delete from crm.people')
      const id = await connect('typed', { loadFiles })
      const { id: transferId, records } = await move(id)
      const rejects = await caller.expect(caller.call('listRejects', { accountId, id, transferId }))
      return {
        records,
        rejects: rejects.map(({ field, reason }) => `${field}: ${withoutValue(reason)}`),
        rows: await inTable(),
      }
    }
    const byFiles = await outcome(true)
    assert.deepEqual(byFiles.records, { read: 301, sent: 301, accepted: 300, rejected: 1 })
    assert.deepEqual(bigQuery.loaded, [], 'no row came from a worker')
    assert.deepEqual(await outcome(false), byFiles)
    await putParquet('decimal/1.parquet', 'select 1::bigint as id, 1.50::decimal(9, 2) as name')
    const id = await connect('decimal')
    assert.match(
      await log(id, (await move(id)).id),
      /the files have the type decimal for the column name, and the table has STRING/,
    )
    await rm(file)
  })

  test('reject single rows with the reason, the column and the record, and count the others', async () => {
    const bad = [
      'many,a,1,',
      ',a,1,',
      '1e3,a,1,',
      '2,a,1.005,',
      '3,a,99999999999.5,',
      '4,a,1,yesterday',
      '5,too,many,cells,here',
      '6,too few',
    ]
    put('bad/1.csv', peopleCsv(10, 20, bad))
    put(
      'bad/2.csv',
      Buffer.concat([Buffer.from(peopleCsv(100, 5)), Buffer.from([0x37, 0x2c, 0xff, 0x2c, 0x31, 0x2c, 0x0a])]),
    )
    const id = await connect('bad')
    const transfer = await move(id)
    assert.equal(transfer.status, 'partial', JSON.stringify(transfer.error))
    assert.deepEqual(transfer.records, { read: 34, sent: 34, accepted: 25, rejected: 9 })
    assert.equal((await inTable()).length, 25)
    const rejects = await caller.expect(caller.call('listRejects', { accountId, id, transferId: transfer.id }))
    assert.deepEqual(rejects.map(({ field, reason }) => `${field}: ${reason}`).sort(), [
      'changed: A value is not a valid time.',
      'id: A number has an exponent. Write its digits, or let a worker move the rows.',
      'id: A value is not a number.',
      'id: There is no value for a column that needs one.',
      'name: A value is not valid UTF-8 text.',
      'null: The row has another number of values than the header (row 28 of 1.csv).',
      'null: The row has another number of values than the header (row 29 of 1.csv).',
      'paid: A number is too large for the column.',
      'paid: A value has more than 2 decimal places. The column stores 2.',
    ])
    await assertInvariants(service.database.pool)
  })

  test('replace the table as a whole, and not by much less', async () => {
    await bigQuery.run('insert into crm.people (id) values (7777)')
    put('whole/1.csv', peopleCsv(1, 100))
    put('whole/2.csv.gz', gzipSync(peopleCsv(101, 100)))
    const id = await connect('whole', { writeMode: 'Replace' })
    assert.equal((await move(id)).records.accepted, 200)
    assert.equal((await inTable()).length, 200)
    assert.equal((await move(id)).records.accepted, 200)
    assert.equal((await inTable()).length, 200)
    gcs.buckets.get(bucket)?.delete('whole/2.csv.gz')
    put('whole/1.csv', peopleCsv(1, 10))
    const guarded = await move(id)
    assert.equal(guarded.error?.code, 'confirmation_needed')
    assert.equal((await inTable()).length, 200)
    assert.equal((await move(id, { confirm: true })).records.accepted, 10)
    assert.equal((await inTable()).length, 10)
    assert.deepEqual(await tables(), [])
  })

  test('pass a worker if something needs one, and the log says what', async () => {
    put('one/1.csv', peopleCsv(1, 3))
    put('zstd/1.csv.zst', zstdCompressSync(peopleCsv(1, 3)))
    put('star/a*.csv', peopleCsv(1, 3))
    const reasonOf = async (folder: string, own: Record<string, string | boolean> = {}) => {
      const id = await connect(folder, own)
      const transfer = await move(id)
      assert.equal(transfer.status, 'succeeded', JSON.stringify(transfer.error))
      return /Rows pass a worker, because (.*)\./.exec(await log(id, transfer.id))?.[1] ?? ''
    }
    await bigQuery.run('create or replace table crm.odd (id bigint, name blob, paid varchar, changed date)')
    put('odd/1.csv', 'id,name\n1,\\x00ff\n')
    assert.deepEqual(
      [
        await reasonOf('one', { loadFiles: false }),
        await reasonOf('one', { writeMode: 'Upsert', keyColumns: 'id' }),
        await reasonOf('one', { mapping: '{"id":"id","name":{"column":"name","hash":"sha256"}}' }),
        await reasonOf('zstd'),
        await reasonOf('star'),
        await reasonOf('odd', { table: 'odd' }),
        // A mapping that only picks and renames columns needs no worker, and a missing table is created.
        await reasonOf('one', { mapping: '{"NAME":"paid","id":"id"}', table: 'fresh', createTable: true }),
      ],
      [
        'the connection does not have Google BigQuery Data Store load files',
        'Upsert needs the keys of the rows',
        'the mapping changes values of name',
        'zstd/1.csv.zst is compressed with zstd, which BigQuery does not load',
        'the name of star/a*.csv has a *',
        'the column name of the table has the type BYTES',
        '',
      ],
    )
    assert.equal((await query('select * from crm.fresh')).length, 3)
    await assertInvariants(service.database.pool)
  })

  test('fail without a row if a file changed meanwhile, is damaged, or must not be read', async () => {
    put('moving/1.csv', peopleCsv(1, 5))
    bigQuery.before = (configuration) => {
      if ('load' in configuration) put('moving/1.csv', peopleCsv(1, 6))
    }
    const changed = await move(await connect('moving'))
    assert.deepEqual([changed.error?.code, changed.records.read], ['source_changed', 0])
    bigQuery.before = undefined
    const whole = gzipSync(peopleCsv(1, 5_000))
    put('damaged/1.csv.gz', whole.subarray(0, whole.length - 500))
    assert.equal((await move(await connect('damaged'))).error?.code, 'invalid_file')
    put('barred/1.csv', peopleCsv(1, 5))
    bigQuery.storage = { put: gcs.put }
    const barred = await move(await connect('barred'))
    assert.equal(barred.error?.code, 'permission_denied')
    assert.match(barred.error?.message ?? '', /Grant the service account of the destination/)
    assert.deepEqual(await inTable(), [])
    assert.deepEqual(await tables(), [])
  })

  for (const writeMode of ['Append', 'Replace']) {
    test(`are each loaded once if a worker is killed between any two jobs (${writeMode})`, async () => {
      const files = 4
      for (let file = 0; file < files; file++) {
        put(`killed/${file}.csv`, peopleCsv(file * 50, 50, [`bad ${file},a,1,`]))
      }
      const id = await connect('killed', { writeMode })
      const { id: transferId } = await fixture.start(id)
      const given = moving.worker
      for (const at of ['"load"', '"query":"select misfit', writeMode === 'Append' ? 'insert into' : 'merge into']) {
        const child = spawnHandoverWorker(given)
        // The job runs anyway. Only the response is lost.
        const reached = new Promise<void>((resolve) => {
          bigQuery.before = (configuration) => {
            if (!JSON.stringify(configuration).includes(at) || child.killed) return
            child.kill('SIGKILL')
            resolve()
          }
        })
        await bounded(`the worker sends ${at}`, reached, 60_000)
        await bounded('it is gone', child.ended, 60_000)
        bigQuery.before = undefined
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
      const writes = bigQuery.executed.filter((text) => /^(insert|merge) into/.test(text))
      assert.equal(writes.length, 1)
      assert.deepEqual(await tables(), [])
      await assertInvariants(service.database.pool)
    })
  }
})
