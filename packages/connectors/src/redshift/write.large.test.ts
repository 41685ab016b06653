import assert from 'node:assert/strict'
import { after, beforeEach, describe, test } from 'node:test'
import type { Row, Values } from '@penstock/connector'
import { testContext } from '@penstock/connector/acceptance'
import { assertRejected } from '../../test/assert-rejected.ts'
import { discover, valuesOf } from '../../test/discover.ts'
import { clusterRole, stagingBucket, startRedshiftServer, testServerName } from '../../test/redshift-server.ts'
import { batchOf, connectorErrorOf, deliver as deliverTo, inspect } from '../../test/tables.ts'
import { amazonRedshiftDestination } from './amazon-redshift-destination.ts'

const redshift = await startRedshiftServer()
after(() => redshift.close())
const { routes, secrets, query, s3 } = redshift
const settings = { schema: 'crm', table: 'people', stagingPath: `s3://${stagingBucket}/load`, writeMode: 'Append' }
const reset = () =>
  query(`drop schema crm cascade; create schema crm;
    create table crm.people (changed timestamptz, id bigint not null, name varchar(20), member boolean, paid numeric(12, 2), day date)`)
await reset()
const staged = async () =>
  (await s3.client.request({ bucket: stagingBucket, query: { 'list-type': '2' }, permission: '' })).text()

describe(`writing to a table, against ${testServerName}`, () => {
  beforeEach(async () => {
    await reset()
    redshift.executed.length = 0
    redshift.beforeStatement = undefined
    redshift.misloads = undefined
  })

  const optionsOf = (own: Values = {}, transferId = 'transfer-1') => ({
    secrets,
    routes,
    settings: { ...settings, ...own },
    transferId,
  })
  const deliver = (names: readonly string[], some: readonly Row[], own: Values = {}, number = 1) =>
    deliverTo(amazonRedshiftDestination, optionsOf(own), batchOf(names, some, number))
  const openWriter = async (options: Parameters<typeof testContext>[0]) => {
    const writer = await amazonRedshiftDestination.destination?.deliver?.open(
      testContext({ columns: ['id', 'name'], ...options }),
    )
    assert.ok(writer)
    return writer
  }
  const inTable = async (table = 'people') =>
    (await query(`select id, name from crm.${table} order by id, name`)).map(({ id, name }) => [id, name])
  const upsert = { writeMode: 'Upsert', keyColumns: 'ID' }

  test('creates a table that is missing, if it may, with columns of text, and finds it in any case', async () => {
    const missing = await connectorErrorOf(deliver(['id'], [[1]], { table: 'Fresh' }))
    assert.deepEqual(missing, ['reconfigure', 'table_not_found'])
    await deliver(['id', 'name'], [['x', '']], { table: 'Fresh', createTable: true }, 11)
    await deliver(['id', 'name'], [['y', '\\N']], { table: 'FRESH', createTable: true }, 12)
    assert.deepEqual(await inTable('fresh'), [
      ['x', ''],
      ['y', '\\N'],
    ])
    assert.match(await staged(), /<KeyCount>0</)
  })

  test('writes once what comes twice, when the answer to a commit is lost, and when two workers have the batch', async () => {
    for (const own of [{}, upsert]) {
      redshift.lostCommits = 1
      const error = await connectorErrorOf(
        deliver(
          ['id', 'name'],
          [
            [1, 'a'],
            ['x', 'bad'],
          ],
          own,
          12,
        ),
      )
      assert.deepEqual(error, ['retry', 'connection_lost'])
      const again = await deliver(
        ['id', 'name'],
        [
          [1, 'a'],
          ['x', 'bad'],
        ],
        own,
        12,
      )
      assertRejected(again.rejected, [[1, 'id']])
      assert.deepEqual([redshift.lostCommits, await inTable()], [0, [['1', 'a']]])
      await reset()
    }
    // Both have staged the rows before one of them writes.
    const writers = await Promise.all([1, 2].map((attempt) => openWriter({ ...optionsOf(), attempt })))
    const both = Promise.withResolvers<void>()
    let begun = 0
    redshift.beforeStatement = async (text) => {
      if (text === 'begin' && ++begun === 2) both.resolve()
      if (text === 'begin') await both.promise
    }
    await Promise.all(writers.map((writer) => writer.deliver(batchOf(['id', 'name'], [[1, 'a']], 13))))
    await Promise.all(writers.map((writer) => writer.close?.()))
    assert.deepEqual([begun, await inTable()], [2, [['1', 'a']]])
  })

  test('names the rows that COPY does not load, and their columns, once', async () => {
    const some: Row[] = [
      [1, 'a'],
      [2, 'too long by now'],
      [3, 'c'],
      ['x', 'not sent'],
      [4, 'too long again'],
    ]
    const writer = await openWriter(optionsOf())
    redshift.misloads = ({ penstock_1: name }) =>
      String(name).startsWith('too long') ? { column: 'penstock_1', code: 1204 } : undefined
    for (let time = 0; time < 2; time++) {
      const { rejected } = await writer.deliver(batchOf(['id', 'name'], some, 14))
      assert.deepEqual(
        rejected?.map(({ index, field, reason }) => [index, field, reason.replace(/ \(.*/, '')]),
        [
          [1, 'name', 'A text is too long for the column'],
          [3, 'id', 'A value is not a number.'],
          [4, 'name', 'A text is too long for the column'],
        ],
      )
    }
    assert.deepEqual(await inTable(), [
      ['1', 'a'],
      ['3', 'c'],
    ])
    // If the user is not allowed to read the errors, the rows are found by halving.
    await query('alter table sys_load_error_detail rename to hidden')
    try {
      const { rejected } = await writer.deliver(batchOf(['id', 'name'], some, 15))
      assertRejected(rejected, [1, 3, 4])
    } finally {
      await query('alter table hidden rename to sys_load_error_detail')
      await writer.close?.()
    }
    assert.match(await staged(), /<KeyCount>0</)
  })

  test('leaves it to the engine to find rows that a rule refuses which was added since', async () => {
    const writer = await openWriter(optionsOf())
    await query('alter table crm.people alter column name set not null')
    assert.deepEqual(
      await connectorErrorOf(
        writer.deliver(
          batchOf(
            ['id', 'name'],
            [
              [1, 'a'],
              [2, null],
            ],
            16,
          ),
        ),
      ),
      ['split', 'invalid_batch'],
    )
    await writer.deliver(batchOf(['id', 'name'], [[1, 'a']], 17))
    await writer.close?.()
    assert.deepEqual(await inTable(), [['1', 'a']])
  })

  test('replaces what was there once in a transfer, in one transaction with the first rows', async () => {
    await query('insert into crm.people (id) values (7)')
    const options = { ...optionsOf({ writeMode: 'Replace' }, 'transfer-2'), columns: ['id'] }
    const [first, second] = [batchOf(['id'], [[1]], 21), batchOf(['id'], [[2]], 22)]
    redshift.copyFailure = 'The disk is full'
    await connectorErrorOf((await openWriter(options)).deliver(first))
    redshift.copyFailure = undefined
    assert.deepEqual(await inTable(), [['7', null]])
    await (await openWriter(options)).deliver(first)
    const again = await openWriter({ ...options, attempt: 2 })
    await again.deliver(first)
    await again.deliver(second)
    await again.finish?.()
    assert.deepEqual(await inTable(), [
      ['1', null],
      ['2', null],
    ])
    await (await openWriter({ ...options, transferId: 'transfer-t', test: true })).deliver(batchOf(['id'], [[9]], 23))
    assert.equal((await inTable()).length, 3)
    for (let time = 0; time < 2; time++) await (await openWriter({ ...options, transferId: 'transfer-3' })).finish?.()
    assert.deepEqual(await inTable(), [])
  })

  test('updates rows by their key, the last of a batch, and leaves other columns alone', async () => {
    await query(`insert into crm.people (id, name, paid) values (1, 'old', 5), (3, 'kept', 6)`)
    const some: Row[] = [
      [2, 'b'],
      [1, 'first'],
      [1, 'last'],
      [null, 'keyless'],
    ]
    for (let time = 0; time < 2; time++) {
      const { rejected } = await deliver(['id', 'name'], some, upsert, 31)
      assertRejected(rejected, [[3, 'id']])
    }
    assert.deepEqual(await inTable(), [
      ['1', 'last'],
      ['2', 'b'],
      ['3', 'kept'],
    ])
    assert.deepEqual(await query('select paid::int as paid from crm.people where id = 1'), [{ paid: 5 }])
    await deliver(['id'], [[1], [4]], upsert, 32)
    assert.deepEqual(
      (await inTable()).map(([id]) => id),
      ['1', '2', '3', '4'],
    )
    assert.equal((await connectorErrorOf(deliver(['name'], [['a']], upsert, 33)))[1], 'column_not_found')
  })

  test('deletes rows that a window does not have any more, over one batch or several, and only if all are there', async () => {
    const fill = () =>
      query(
        `truncate crm.people; insert into crm.people (id, name, day) values (1, 'old', '2026-01-01'), (2, 'gone', '2026-01-01'), (3, 'other', '2026-01-02')`,
      )
    const batch = (
      number: number,
      some: readonly Row[],
      window: { begins: boolean; ends: boolean; spoiled?: boolean },
      day = '2026-01-01',
    ) => ({
      ...batchOf(['id', 'name', 'day'], some, number),
      window: { scope: { day: [day] }, spoiled: false, ...window },
    })
    const writer = await openWriter({ ...optionsOf(upsert), columns: ['id', 'name', 'day'] })
    const ids = async () => (await inTable()).map(([id]) => Number(id))
    await fill()
    await writer.deliver(batch(41, [[1, 'new', '2026-01-01']], { begins: true, ends: true }))
    assert.deepEqual(await inTable(), [
      ['1', 'new'],
      ['3', 'other'],
    ])
    await fill()
    await writer.deliver(batch(42, [[1, 'new', '2026-01-01']], { begins: true, ends: false }))
    assert.deepEqual(await ids(), [1, 2, 3])
    await writer.deliver(batch(43, [[4, 'new', '2026-01-01']], { begins: false, ends: true }))
    assert.deepEqual(await ids(), [1, 3, 4])
    await fill()
    await writer.deliver(batch(44, [['x', 'bad', '2026-01-01']], { begins: true, ends: true }))
    await writer.deliver(batch(45, [], { begins: true, ends: true, spoiled: true }))
    await writer.deliver(batch(46, [], { begins: true, ends: true }, 'no \\ day'))
    assert.deepEqual(await ids(), [1, 2, 3])
    await writer.deliver(batch(47, [], { begins: true, ends: true }))
    assert.deepEqual(await ids(), [3])
    await writer.close?.()
  })

  test('names the role that reads the bucket, or gives the credentials of the role that the key takes on', async () => {
    const copies = () => redshift.executed.filter((text) => text.startsWith('copy'))
    const withRole = (copyRoleArn: string, number: number) =>
      deliverTo(
        amazonRedshiftDestination,
        { ...optionsOf(), secrets: { ...secrets, copyRoleArn } },
        batchOf(['id'], [[1]], number),
      )
    await withRole(clusterRole, 51)
    await withRole('default', 52)
    assert.ok(copies().every((text) => !text.includes('secret')))
    const roleArn = 'arn:aws:iam::123456789012:role/Writer'
    const assumed = { ...optionsOf(), secrets: { ...secrets, roleArn } }
    await deliverTo(amazonRedshiftDestination, assumed, batchOf(['id'], [[1]], 55))
    assert.match(copies().at(-1) ?? '', /credentials 'aws_access_key_id=ASIAEXAMPLE;.*;token=/)
    assert.deepEqual(await connectorErrorOf(withRole(clusterRole.replace('Loader', 'Other'), 53)), [
      'reconfigure',
      'permission_denied',
    ])
    assert.deepEqual(await connectorErrorOf(withRole(`x' iam_role default`, 54)), ['reconfigure', 'invalid_setting'])
  })

  test('removes what an attempt has left that was killed, and nothing else', async () => {
    await s3.put(stagingBucket, 'load/penstock/transfer-1/left.ndjson.gz', 'x')
    await s3.put(stagingBucket, 'load/penstock/transfer-9/other.ndjson.gz', 'x')
    await deliver(['id'], [[1]], {}, 61)
    assert.deepEqual(
      [
        await s3.names(stagingBucket, 'load/penstock/transfer-1/'),
        await s3.names(stagingBucket, 'load/penstock/transfer-9/'),
      ],
      [[], ['load/penstock/transfer-9/other.ndjson.gz']],
    )
    await s3.empty(stagingBucket, 'load/penstock/transfer-9/')
  })

  test('keeps all digits, bytes, times and JSON', async () => {
    await query(
      `create table crm.kinds (a smallint, b numeric(38, 10), c double precision, d real, e timestamp, f time, g super, h varbyte, i character(3), j varchar(9) default 'x', k integer default 7)`,
    )
    const names = [...'abcdefghi']
    const row = [
      '-32768',
      '1234567890123456789012345678.0123456789',
      '0.1',
      '1.5',
      '2026-01-31T13:00:00.000001+01:00',
      '23:59:59.999999',
      '{\n"a": [12345678901234567890.5, "x\\ny"]}',
      '\\x00ff',
      'ab',
    ]
    await deliver(names, [row, names.map(() => null)], { table: 'kinds' }, 71)
    const [first, second] = await query(
      `select a::text, b::text, c::text, d::text, e::text, f::text, g::text, h::text, i::text, j, k from crm.kinds order by a`,
    )
    assert.deepEqual(
      Object.values(first ?? {}),
      [
        '-32768',
        '1234567890123456789012345678.0123456789',
        '0.1',
        '1.5',
        '2026-01-31 12:00:00.000001',
        '23:59:59.999999',
        '{"a": [12345678901234567890.5, "x\\ny"]}',
        '\\x00ff',
        'ab ',
        'x',
        7,
      ].map((value, at) => (at === 8 ? 'ab' : value)),
    )
    assert.deepEqual(
      Object.values(second ?? {}).slice(0, 9),
      names.map(() => null),
    )
    const { rejected } = await deliver(
      ['a', 'i', 'g', 'j', 'h'],
      [
        [1, 'é', null, null, null],
        [1, null, '{', null, null],
        [1, null, null, 'a\0', null],
        [1, null, null, null, 'zz'],
        [40000, null, null, null, null],
        [1, null, JSON.stringify('x'.repeat(5 << 20)), null, null],
      ],
      { table: 'kinds' },
      72,
    )
    assert.deepEqual(
      rejected?.map(({ field }) => field),
      ['i', 'g', 'j', 'h', 'a', undefined],
    )
  })

  test('finds columns that the table lacks, columns that fill themselves, and values that it does not take', async () => {
    const code = async (names: string[], own: Values = {}) =>
      (await connectorErrorOf(deliver(names, [names.map(() => 1)], own, 81)))[1]
    assert.equal(await code(['id', 'city']), 'column_not_found')
    assert.equal(await code(['id'], { stagingPath: `s3://${stagingBucket}/it's` }), 'invalid_address')
    assert.equal(await code(['id'], { stagingPath: 's3://missing-bucket' }), 'bucket_not_found')
    const found = await inspect(amazonRedshiftDestination, { ...optionsOf(), columns: ['paid'], rows: [['1,5']] })
    assert.deepEqual(
      found.map((each) => [each.code, each.column]),
      [
        ['required_column_not_delivered', undefined],
        ['type_mismatch', 'paid'],
      ],
    )
    assert.equal((await query(`select 1 from pg_class where relname = 'penstock_batches'`)).length, 1)
  })

  test('lists schemas, tables and columns, and folders of the bucket', async () => {
    await s3.put(stagingBucket, 'load/x.txt', 'x')
    const find = (field: string) =>
      discover(amazonRedshiftDestination, secrets, field, { role: 'destination', routes, settings })
    assert.deepEqual(valuesOf(await find('schema')), ['crm', 'public'])
    assert.deepEqual(valuesOf(await find('table')), ['people'])
    assert.deepEqual((await find('columns')).items[1], { value: 'id', kind: 'column', type: 'bigint', required: true })
    await find('stagingPath')
    await s3.empty(stagingBucket, 'load/')
  })
})
