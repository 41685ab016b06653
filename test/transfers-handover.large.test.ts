import assert from 'node:assert/strict'
import { readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, beforeEach, describe, test } from 'node:test'
import { gzipSync } from 'node:zlib'
import {
  bucket,
  previewRouteOf,
  s3Source,
  snowflakeDestination,
  spawnHandoverWorker,
  startStores,
  tableSettings,
} from './harness/handover.ts'
import { assertInvariants } from './harness/invariants.ts'
import { peopleCsv, startMoving } from './harness/moving.ts'
import { withoutValue } from './harness/reasons.ts'
import { queuedAgain } from './harness/standings.ts'
import { bounded } from './harness/until.ts'

/** Files of S3 that Snowflake loads itself: counts, rejected rows, the reasons for a worker, and crashes. */

const stores = await startStores()
after(() => stores.close())
const { s3, snowflake } = stores
const moving = await startMoving(
  stores.routes,
  [s3Source, stores.s3Secrets],
  [snowflakeDestination, stores.snowflakeSecrets],
)
const { fixture, caller, accountId, service, work, move, log } = moving

const connect = (folder: string, own: Record<string, string | boolean> = {}) =>
  fixture.connect(s3Source, { bucketUri: `s3://${bucket}/${folder}/` }, snowflakeDestination, {
    ...tableSettings,
    ...own,
  })

const inTable = async (): Promise<readonly (readonly (string | null)[])[]> =>
  (await snowflake.run('select "ID", "NAME", "PAID", "CHANGED" from "SALES"."PUBLIC"."PEOPLE" order by "ID"')).rows
const countOf = async (): Promise<number> => (await inTable()).length
const tables = async () =>
  (await snowflake.run(`select table_name from information_schema.tables where table_name like 'PENSTOCK_LOAD%'`)).rows

describe('files that Snowflake loads', () => {
  beforeEach(async () => {
    await snowflake.run('drop schema "SALES"."PUBLIC" cascade')
    await snowflake.run('create schema "SALES"."PUBLIC"')
    await snowflake.run(
      'create table "SALES"."PUBLIC"."PEOPLE" ("ID" integer not null, "NAME" varchar, "PAID" decimal(12, 2), "CHANGED" timestamp)',
    )
    snowflake.before = undefined
    snowflake.executed.length = 0
  })

  test('are loaded as a worker would write them, and counted by its report', async () => {
    await s3.put(bucket, 'plain/1.csv', peopleCsv(1, 300))
    await s3.put(bucket, 'plain/2.csv.gz', gzipSync(peopleCsv(301, 200).replaceAll(',', ';')))
    const columns = 'name,id,changed,paid'
    await s3.put(bucket, 'plain/3.csv', `${columns}\nLast,501,2026-01-31 11:00:00,7\n"",502,,\n`)
    const id = await connect('plain')
    const transfer = await move(id)
    assert.equal(transfer.status, 'succeeded', JSON.stringify(transfer.error))
    assert.deepEqual(transfer.records, { read: 502, sent: 502, accepted: 502, rejected: 0 })
    const byFiles = await inTable()
    assert.equal(byFiles.length, 502)
    assert.ok(!snowflake.executed.some((text) => text.includes('flatten')), 'no row came from a worker')
    const { accessKeyId, secretAccessKey } = stores.s3Secrets
    const shown = snowflake.executed.filter((text) => text.includes(accessKeyId) || text.includes(secretAccessKey))
    assert.deepEqual(shown, [], 'no key of the source is in a statement')
    assert.match(await log(id, transfer.id), /Snowflake Data Store loads the files itself/)
    assert.deepEqual(await tables(), [])
    await snowflake.run('delete from "SALES"."PUBLIC"."PEOPLE"')
    const byWorker = await connect('plain', { loadFiles: false })
    assert.equal((await move(byWorker)).records.accepted, 502)
    assert.deepEqual(await inTable(), byFiles)
    await assertInvariants(service.database.pool)
  })

  test('reject single rows with the reason, the column and the record, and count the others', async () => {
    const bad = [
      'many,a,1,',
      ',a,1,',
      '2,a,1.005,',
      '3,a,99999999999.5,',
      '4,a,1,yesterday',
      '5,too,many,cells,here',
      '6,too few',
    ]
    await s3.put(bucket, 'bad/1.csv', peopleCsv(10, 20, bad))
    await s3.put(
      bucket,
      'bad/2.csv',
      Buffer.concat([Buffer.from(peopleCsv(100, 5)), Buffer.from([0x37, 0x2c, 0xff, 0x2c, 0x31, 0x2c, 0x0a])]),
    )
    const id = await connect('bad')
    const transfer = await move(id)
    assert.equal(transfer.status, 'partial', JSON.stringify(transfer.error))
    assert.deepEqual(transfer.records, { read: 33, sent: 33, accepted: 25, rejected: 8 })
    assert.equal(await countOf(), 25)
    const rejects = await caller.expect(caller.call('listRejects', { accountId, id, transferId: transfer.id }))
    assert.deepEqual(rejects.map(({ field, reason }) => `${field}: ${reason}`).sort(), [
      'changed: A value is not a valid time.',
      'id: A value is not a number.',
      'id: There is no value for a column that needs one.',
      'null: The row has another number of values than the header (row 27 of 1.csv).',
      'null: The row has another number of values than the header (row 28 of 1.csv).',
      'null: The row is not valid UTF-8 text (row 7 of 2.csv).',
      'paid: A number is too large for the column.',
      'paid: A value has more than 2 decimal places. The column stores 2.',
    ])
    await assertInvariants(service.database.pool)
  })

  test('keep numbers of which a floating-point column keeps all digits, and reject others as a worker does', async () => {
    await snowflake.run('create table "SALES"."PUBLIC"."SHARES" ("ID" integer, "SHARE" double)')
    const shares = ['0.1', '-1.50', '1e3', '', '0', '123456789012345', '00012.5', '.5']
    const bad = ['9007199254740993123', '0.1000000000000000055', '1e-400', '1e399', 'many']
    const lines = [...shares, ...bad].map((share, id) => `${id},${share}`)
    await s3.put(bucket, 'shares/1.csv', ['id,share', ...lines, ''].join('\n'))
    const outcomes = async (loadFiles: boolean) => {
      await snowflake.run('delete from "SALES"."PUBLIC"."SHARES"')
      const id = await connect('shares', { loadFiles, table: 'shares' })
      const transfer = await move(id)
      const rejects = await caller.expect(caller.call('listRejects', { accountId, id, transferId: transfer.id }))
      const { rows } = await snowflake.run('select * from "SALES"."PUBLIC"."SHARES" order by 1')
      return {
        records: transfer.records,
        rows,
        rejects: rejects.map(({ field, reason }) => `${field}: ${withoutValue(reason)}`).sort(),
      }
    }
    const byFiles = await outcomes(true)
    assert.deepEqual(byFiles.records, { read: 13, sent: 13, accepted: 8, rejected: 5 })
    assert.deepEqual(byFiles.rejects, [
      'share: … has more digits than the floating-point column keeps.',
      'share: … has more digits than the floating-point column keeps.',
      'share: … has more digits than the floating-point column keeps.',
      'share: … is not a number.',
      'share: … is too large for the column.',
    ])
    assert.deepEqual(await outcomes(false), byFiles)
    await s3.put(bucket, 'shares/1.csv', 'id,share\n1,0.30000000000000004\n')
    const [doubted] = (await outcomes(true)).rejects
    assert.match(doubted ?? '', /^share: … has more than the 15 digits that are certain to be kept/)
  })

  test('have the values of Parquet files as a worker would write them, or pass one', async () => {
    const file = join(tmpdir(), `penstock-snowflake-${process.pid}.parquet`)
    const put = async (name: string, select: string) => {
      await snowflake.run(`copy (${select}) to '${file}' (format parquet)`)
      await s3.put(bucket, name, await readFile(file))
    }
    await snowflake.run(
      'create table "SALES"."PUBLIC"."TYPED" ("ID" integer not null, "NAME" varchar, "PAID" decimal(12, 2), "OK" boolean, "DAY" date)',
    )
    await put(
      'typed/1.parquet',
      `select i::bigint as id, case when i % 7 = 0 then '' when i % 5 <> 0 then 'Zoë ' || i end as name, (i * 1.25)::decimal(9, 3) as paid,
        i % 2 = 0 as ok, date '2026-01-31' + i::int as day from range(1, 301) as t(i)`,
    )
    await put(
      'typed/2.parquet',
      'select null::bigint as id, null::varchar as name, 1::decimal(9, 3) as paid, null::boolean as ok, null::date as day union all select 1, null, 1.005, true, null',
    )
    const outcome = async (loadFiles: boolean) => {
      await snowflake.run('delete from "SALES"."PUBLIC"."TYPED"')
      const id = await connect('typed', { loadFiles, table: 'typed' })
      const { id: transferId, records } = await move(id)
      const rejects = await caller.expect(caller.call('listRejects', { accountId, id, transferId }))
      const { rows } = await snowflake.run('select * from "SALES"."PUBLIC"."TYPED" order by 1')
      return { records, rows, rejects: rejects.map(({ field, reason }) => `${field}: ${reason}`).sort() }
    }
    const byFiles = await outcome(true)
    assert.deepEqual(byFiles.records, { read: 302, sent: 302, accepted: 300, rejected: 2 })
    assert.ok(!snowflake.executed.some((text) => text.includes('flatten')), 'no row came from a worker')
    const byWorker = await outcome(false)
    assert.deepEqual({ ...byWorker, rejects: byFiles.rejects }, byFiles)
    assert.equal(byWorker.rejects.length, 2)
    await put('timed/1.parquet', "select 1::bigint as id, timestamp '2026-01-31' as changed")
    const id = await connect('timed')
    assert.match(
      await log(id, (await move(id)).id),
      /because the files have the type timestamp for the column CHANGED, whose texts are other ones in Snowflake/,
    )
    await rm(file)
  })

  test('replace the table as a whole, and not by much less', async () => {
    await snowflake.run(`insert into "SALES"."PUBLIC"."PEOPLE" ("ID") values (7777)`)
    await s3.put(bucket, 'whole/1.csv', peopleCsv(1, 100))
    await s3.put(bucket, 'whole/2.csv.gz', gzipSync(peopleCsv(101, 100)))
    const id = await connect('whole', { writeMode: 'Replace' })
    assert.equal((await move(id)).records.accepted, 200)
    assert.equal(await countOf(), 200)
    assert.equal((await move(id)).records.accepted, 200)
    assert.equal(await countOf(), 200)
    await s3.empty(bucket, 'whole/')
    await s3.put(bucket, 'whole/1.csv', peopleCsv(1, 10))
    const guarded = await move(id)
    assert.equal(guarded.error?.code, 'confirmation_needed')
    assert.equal(await countOf(), 200)
    assert.equal((await move(id, { confirm: true })).records.accepted, 10)
    assert.equal(await countOf(), 10)
    assert.deepEqual(await tables(), [])
  })

  test('pass a worker where something needs one, and the log says what', async () => {
    await s3.put(bucket, 'one/1.csv', peopleCsv(1, 3))
    await s3.put(bucket, 'latin/1.csv', Buffer.from('\ufeffid,name\n1,a\n', 'utf16le'))
    await s3.put(bucket, 'json/1.ndjson', '{"id":1,"name":"a"}\n')
    await s3.put(bucket, 'mixed/1.csv', 'id,name\n1,a\n')
    await s3.put(bucket, 'mixed/2.csv', 'name,id\na,2\n')
    const reasons: Record<string, string> = {}
    const reasonOf = async (folder: string, own: Record<string, string | boolean> = {}, body = {}) => {
      const id = await connect(folder, own)
      const transfer = await move(id, body)
      assert.equal(transfer.status, 'succeeded', JSON.stringify(transfer.error))
      const [, reason = ''] = /Rows pass a worker, because (.*)\./.exec(await log(id, transfer.id)) ?? []
      return reason
    }
    reasons.hashed = await reasonOf('one', { mapping: '{"id":"id","name":{"column":"name","hash":"sha256"}}' })
    reasons.filtered = await reasonOf('one', { filter: 'id != "7"' })
    reasons.computed = await reasonOf('one', { mapping: '{"id":"id","name":{"expression":"upper(name)"}}' })
    reasons.test = await reasonOf('one', {}, { test: { rows: 2 } })
    reasons.off = await reasonOf('one', { loadFiles: false })
    reasons.encoding = await reasonOf('latin')
    reasons.format = await reasonOf('json')
    reasons.none = await reasonOf('mixed')
    assert.deepEqual(reasons, {
      hashed: 'the mapping changes values of name',
      filtered: 'the filter is applied to each of them',
      computed: 'the mapping changes values of name',
      test: 'a test sends a few records',
      off: 'the connection does not have Snowflake Data Store load files',
      encoding: 'latin/1.csv is not in UTF-8',
      format: 'json/1.ndjson is JSON lines, which only a worker can read exactly',
      none: '',
    })
    const routeOf = (folder: string, own: Record<string, string | boolean> = {}) =>
      previewRouteOf(stores, { bucketUri: `s3://${bucket}/${folder}/` }, { ...tableSettings, ...own })
    await snowflake.run(
      'create table "SALES"."PUBLIC"."ODD" ("ID" integer, "NAME" blob, "PAID" varchar, "CHANGED" date)',
    )
    assert.equal(
      (await routeOf('one', { table: 'odd' }))?.reason,
      'Rows pass a worker, because the column NAME of the table has the type BINARY.',
    )
    assert.equal(await reasonOf('mixed', { table: 'odd' }), 'the column NAME of the table has the type BINARY')
    assert.deepEqual(await routeOf('one'), {
      by: 'destination',
      reason: 'Snowflake Data Store loads the files itself. Their rows pass no worker.',
    })
    assert.deepEqual(await routeOf('json'), {
      by: 'worker',
      reason: `Rows pass a worker, because ${reasons.format}.`,
    })
    // A mapping that only picks and renames columns needs no worker.
    assert.equal(await reasonOf('one', { mapping: '{"NAME":"paid","id":"id"}' }), '')
    await assertInvariants(service.database.pool)
  })

  test('fail without a row where a file changed meanwhile, cannot be read, or must not be loaded', async () => {
    await s3.put(bucket, 'moving/1.csv', peopleCsv(1, 5))
    snowflake.before = async (statement) => {
      if (statement.startsWith('copy')) await s3.put(bucket, 'moving/1.csv', peopleCsv(1, 6))
    }
    const changed = await move(await connect('moving'))
    assert.deepEqual([changed.error?.code, changed.records.read], ['source_changed', 0])
    snowflake.before = undefined
    const whole = gzipSync(peopleCsv(1, 5_000))
    await s3.put(bucket, 'damaged/1.csv.gz', whole.subarray(0, whole.length - 500))
    const damaged = await move(await connect('damaged'))
    assert.equal(damaged.error?.code, 'invalid_file')
    const { storage } = snowflake
    assert(storage)
    snowflake.storage = { ...storage, allowed: ['s3://elsewhere/'] }
    await s3.put(bucket, 'barred/1.csv', peopleCsv(1, 5))
    const barred = await move(await connect('barred'))
    snowflake.storage = storage
    assert.match(barred.error?.message ?? '', /through the storage integration S3_LANDING: check that it exists/)
    assert.equal(await countOf(), 0)
    assert.deepEqual(await tables(), [])
  })

  test('are each loaded once where a worker is killed between any two statements', async () => {
    const files = 4
    for (let file = 0; file < files; file++) {
      await s3.put(bucket, `killed/${file}.csv`, peopleCsv(file * 50, 50, [`bad ${file},a,1,`]))
    }
    const id = await connect('killed')
    const { id: transferId } = await fixture.start(id)
    const given = moving.worker
    let kills = 0
    for (const at of ['copy into', 'insert all', 'select misfit', 'create or replace']) {
      const child = spawnHandoverWorker(given)
      // The statement runs anyway. Only the response is lost.
      const reached = new Promise<void>((resolve) => {
        snowflake.before = (statement) => {
          if (!statement.startsWith(at) || child.killed) return
          child.kill('SIGKILL')
          kills++
          resolve()
        }
      })
      await bounded(`the worker sends ${at}`, reached, 60_000)
      await bounded('it is gone', child.ended, 60_000)
      snowflake.before = undefined
      await service.database.pool.query(queuedAgain(`id = $1 and status = 'running'`), [transferId])
    }
    await work()
    const transfer = await fixture.get(id, transferId)
    assert.equal(transfer.status, 'partial', JSON.stringify(transfer.error))
    assert.deepEqual(transfer.records, { read: 204, sent: 204, accepted: 200, rejected: 4 })
    assert.equal(kills, 4)
    const ids = (await inTable()).map(([one]) => Number(one))
    assert.deepEqual(
      ids,
      Array.from({ length: 200 }, (_, index) => index),
    )
    assert.deepEqual(await tables(), [])
    await assertInvariants(service.database.pool)
  })

  test('take the same of a worker, however many rows they have', async (t) => {
    const files = 4
    const measure = async (rows: number, loadFiles: boolean) => {
      for (let file = 0; file < files; file++) {
        await s3.put(bucket, `many-${rows}/${file}.csv`, peopleCsv(file * rows, rows / files))
      }
      const id = await connect(`many-${rows}`, { loadFiles })
      const { id: transferId } = await fixture.start(id)
      const worker = spawnHandoverWorker(moving.worker)
      let report = ''
      worker.stdout?.on('data', (text) => {
        report += String(text)
      })
      await bounded('the worker ends', worker.ended, 120_000)
      const { records } = await fixture.get(id, transferId)
      assert.equal(records.accepted, rows)
      const { processorMs, maxRssBytes } = JSON.parse(report) as { processorMs: number; maxRssBytes: number }
      const by = loadFiles ? 'loaded by Snowflake' : 'through the worker'
      t.diagnostic(`${rows} rows ${by}: ${Math.round(processorMs)} ms of a processor, ${maxRssBytes >> 20} MB at most`)
      return processorMs
    }
    const [few, many] = [10_000, 100_000]
    const loaded = { few: await measure(few, true), many: await measure(many, true) }
    const sent = { few: await measure(few, false), many: await measure(many, false) }
    assert.ok(loaded.many - loaded.few < (sent.many - sent.few) / 3, JSON.stringify({ loaded, sent }))
  })
})
