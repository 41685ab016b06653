import assert from 'node:assert/strict'
import { after, beforeEach, describe, test } from 'node:test'
import type { Cell, Chunk, Json, Values } from '@penstock/connector'
import { testContext } from '@penstock/connector/acceptance'
import { skipWithout } from '../../../../../test/harness/programs.ts'
import fc from '../../../../../test/harness/property.ts'
import { halfAnEvent, loggingOptions, startMariadb } from '../../../test/mariadb.ts'
import { connectorErrorOf, readAll, rowsOf } from '../../../test/tables.ts'
import { mysql } from '../mysql.ts'

const server = await startMariadb(loggingOptions)
after(() => server?.stop())

if (!server) test('changes of MariaDB', { skip: skipWithout('mariadbd') }, () => {})
else {
  const { query, administer, secrets, isMariadb } = server
  const base: Values = { table: 'people', syncMode: 'Changes', deletes: 'Add' }

  const open = (cursor?: Json, more: Values = {}, sample = false) =>
    mysql.source?.open?.({
      ...testContext({ secrets, settings: { ...base, ...more }, ...(cursor === undefined ? {} : { cursor }) }),
      ...(sample && { sample: { noAnswerMs: 1_000 } }),
    })
  const read = (cursor?: Json, after?: Json, more: Values = {}) =>
    readAll(mysql, { secrets, settings: { ...base, ...more }, ...(cursor === undefined ? {} : { cursor }) }, after)

  /** The place at which the next transfer continues once all of these are confirmed. */
  const cursorOf = (chunks: readonly Chunk[]): Json => {
    const cursor = chunks.at(-1)?.cursor
    assert.ok(cursor !== undefined, 'the last chunk has a cursor')
    return cursor
  }
  /** The rows with the operation, without its time and place. */
  const operations = (chunks: readonly Chunk[]) =>
    rowsOf(chunks).map((row) => [row.at(-3), ...row.slice(0, -3)] as Cell[])
  const inTransaction = async (...statements: string[]) => {
    const connection = await server.connect()
    await connection.query('begin')
    for (const statement of statements) await connection.query(statement)
    await connection.query('commit')
    await connection.end()
  }

  /** @param row the literals of a row, by its number from 1 on */
  const insertMany = (count: number, row: (number: number) => string) =>
    query(`insert into people values ${Array.from({ length: count }, (_, at) => `(${row(at + 1)})`).join(', ')}`)

  await administer(`grant replication slave, replication client on *.* to penstock@'127.0.0.1'`)

  beforeEach(async () => {
    await administer('set global binlog_row_metadata = FULL')
    await query('drop view if exists seen')
    await query('drop table if exists child, people, other')
    await query(
      'create table people (id int primary key, name text, note longtext) engine = InnoDB character set utf8mb4',
    )
  })

  describe(`changes of a table of ${isMariadb ? 'MariaDB' : 'MySQL'} ${server.version}`, () => {
    test('are its rows first, then inserts, updates and removals, each once', async () => {
      await query(`insert into people values (1, 'Ada', null), (2, 'Bob', 'x')`)
      const first = await read()
      assert.deepEqual(first[0]?.columns, ['id', 'name', 'note', '_operation', '_committed_time', '_position'])
      assert.deepEqual(operations(first), [
        ['copy', 1, 'Ada', null],
        ['copy', 2, 'Bob', 'x'],
      ])
      await query(`insert into people values (3, 'Cy 🙂', null)`)
      await query(`update people set name = 'Bo' where id = 2`)
      await inTransaction('update people set id = 10 where id = 1', 'delete from people where id = 2')
      const second = await read(cursorOf(first))
      assert.deepEqual(operations(second), [
        ['insert', 3, 'Cy 🙂', null],
        ['update', 2, 'Bo', 'x'],
        ['delete', 1, 'Ada', null],
        ['update', 10, 'Ada', null],
        ['delete', 2, 'Bo', 'x'],
      ])
      const [, time, place] = rowsOf(second)[0]?.slice(-3) ?? []
      assert.match(String(time), /^20\d\d-.*Z$/)
      assert.match(String(place), /^\S+\.\d{6}:\d+$/)
      assert.deepEqual(operations(await read(cursorOf(second))), [])
    })

    test('without removals and the columns of the change are rows of the table', async () => {
      await query(`insert into people values (1, 'Ada', null)`)
      const plain = { deletes: 'Skip' }
      const first = await read(undefined, undefined, plain)
      await query(`delete from people`)
      await query(`insert into people values (2, 'Bob', '')`)
      const second = await read(cursorOf(first), undefined, plain)
      assert.deepEqual([second[0]?.columns, rowsOf(second)], [['id', 'name', 'note'], [[2, 'Bob', '']]])
      const removing = { deletes: 'Remove' }
      await query(`delete from people`)
      const [chunk] = await read(cursorOf(second), undefined, removing)
      assert.deepEqual([chunk?.rows, [...(chunk?.removed ?? [])]], [[[2, 'Bob', '']], [0]])
    })

    test('that the copy has seen do not come again, and all others do', async (t) => {
      await query(`insert into people values (1, 'Ada', null)`)
      const slow = await server.connect()
      t.after(() => slow.destroy())
      await slow.query('begin')
      await slow.query(`insert into people values (2, 'slow', null)`)
      await query(`insert into people values (3, 'seen', null)`)
      if (!isMariadb) {
        assert.deepEqual(await connectorErrorOf(read()), ['retry', 'conflict'], 'MySQL locks the table')
        await slow.query('commit')
        assert.equal(operations(await read()).length, 3)
        return
      }
      const reader = await open()
      assert.ok(reader)
      const chunks: Chunk[] = []
      for await (const chunk of reader.read()) {
        // The copy has been read, and the changes have not.
        if (chunks.length === 0) await slow.query('commit')
        chunks.push(chunk)
      }
      await reader.close()
      assert.deepEqual(operations(chunks), [
        ['copy', 1, 'Ada', null],
        ['copy', 3, 'seen', null],
        ['insert', 2, 'slow', null],
      ])
    })

    test('resume after any checkpoint, in the middle of a transaction too', async () => {
      await insertMany(12_000, (number) => `${number}, 'n${number}', null`)
      const first = await read()
      for (const [at, { checkpoint }] of first.entries()) {
        assert.deepEqual(operations(await read(undefined, checkpoint)), operations(first.slice(at + 1)), `chunk ${at}`)
      }
      await inTransaction(`update people set name = concat('m', id)`, `insert into people values (0, 'zero', null)`)
      await query(`update people set id = -id where id between 1 and 3000`)
      const second = await read(cursorOf(first))
      assert.equal(rowsOf(second).length, 12_001 + 6_000)
      assert.ok(second.length > 3)
      for (const [at, { checkpoint, cursor }] of second.entries()) {
        const rest = operations(second.slice(at + 1))
        assert.deepEqual(operations(await read(cursorOf(first), checkpoint)), rest, `after chunk ${at}`)
        assert.deepEqual(operations(await read(cursor)), rest, `in another transfer after chunk ${at}`)
      }
      // An update of a key gives two rows, between which no transfer begins.
      for (const [at, { rows, cursorAfter }] of second.entries()) {
        for (const count of [0, 1, rows.length >> 1, (rows.length >> 1) + 1, rows.length].filter(
          () => rows.length > 0,
        )) {
          const [rest, others] = [operations(second.slice(at)), operations(await read(cursorAfter?.(count)))]
          const begin = rest.length - others.length
          assert.deepEqual(others, rest.slice(begin))
          if (begin !== count)
            assert.deepEqual([begin, rest[begin]?.[0], rest[count]?.[0]], [count - 1, 'delete', 'update'])
        }
      }
    })

    test('come in transfers of as many as the setting says', async () => {
      const first = await read()
      for (let i = 0; i < 30; i++) {
        await insertMany(100, (number) => `${i * 1_000 + number}, 'n', null`)
      }
      let cursor = cursorOf(first)
      const counts: number[] = []
      for (let i = 0; i < 4; i++) {
        const chunks = await read(cursor, undefined, { changesMax: 1_000 })
        counts.push(rowsOf(chunks).length)
        cursor = cursorOf(chunks)
      }
      assert.deepEqual(counts, [1_000, 1_000, 1_000, 0])
    })

    test('are read to the end of the log, over several files, whatever table it is of', async () => {
      await query('create table other (id int)')
      const first = await read()
      await query('insert into other values (1), (2), (3)')
      await administer('flush binary logs')
      await administer('flush binary logs')
      const second = await read(cursorOf(first))
      assert.deepEqual(operations(second), [])
      await administer(`purge binary logs to '${(cursorOf(second) as { file: string }).file}'`)
      await query(`insert into people values (1, 'Ada', null)`)
      assert.deepEqual(operations(await read(cursorOf(second))), [['insert', 1, 'Ada', null]])
    })

    test('that are gone are never passed over', async () => {
      await query(`insert into people values (1, 'Ada', null)`)
      const cursor = cursorOf(await read())
      await query(`insert into people values (2, 'Bob', null)`)
      const lost = ['reconfigure', 'changes_lost']
      const lossOf = async (statement: string, as = query) => {
        await as(statement)
        return connectorErrorOf(read(cursor, undefined, { deletes: 'Remove' }))
      }
      const { file } = cursor as { file: string }
      for (const [key, value] of [
        ['log', '1:1'],
        ['position', 4_000_000],
        ['file', file.replace(/\d+$/, '999999')],
      ] as const) {
        assert.deepEqual(await connectorErrorOf(read({ ...(cursor as object), [key]: value })), lost, key)
      }
      assert.deepEqual(operations(await read(cursor)), [['insert', 2, 'Bob', null]])
      assert.deepEqual(await lossOf('truncate people'), lost)
      assert.deepEqual(operations(await read(cursor)), [
        ['insert', 2, 'Bob', null],
        ['truncate', null, null, null],
      ])
      const restart = async () => cursorOf(await read())
      for (const statements of [
        ['rename table people to other', 'rename table other to people'],
        ['drop table people', 'create table people (id int primary key, name text, note longtext)'],
        ...(isMariadb ? [['create or replace table people (id int primary key, name text, note longtext)']] : []),
      ]) {
        const before = await restart()
        for (const statement of statements) await query(statement)
        assert.deepEqual(await connectorErrorOf(read(before)), lost, statements[0])
      }
      const before = await restart()
      await administer(`grant ${isMariadb ? 'binlog admin' : 'super'} on *.* to penstock@'127.0.0.1'`)
      const privileged = await server.connect()
      await privileged.query(`set session binlog_format = 'STATEMENT'`)
      await privileged.query(`insert into people values (7, 'unlogged', null)`)
      await privileged.end()
      assert.deepEqual(await connectorErrorOf(read(before)), lost, 'a statement')
      const last = await restart()
      await administer('set global binlog_row_metadata = MINIMAL')
      await query(`insert into people values (8, 'unnamed', null)`)
      await administer('set global binlog_row_metadata = FULL')
      assert.deepEqual(await connectorErrorOf(read(last)), lost, 'no names')
      const final = await restart()
      await administer(isMariadb ? 'reset master' : 'reset binary logs and gtids')
      assert.deepEqual(await connectorErrorOf(read(final)), lost, 'another log')
      assert.equal((await read()).length > 0, true)
    })

    test('of a transaction in two phases are refused, since it may be rolled back', async (t) => {
      const first = await read()
      const xa = await server.connect()
      t.after(() => xa.destroy())
      t.after(() => xa.query(`xa rollback 'one'`).catch(() => {}))
      await xa.query(`xa start 'one'`)
      await xa.query(`insert into people values (5, 'perhaps', null)`)
      await xa.query(`xa end 'one'`)
      await xa.query(`xa prepare 'one'`)
      assert.deepEqual(await connectorErrorOf(read(cursorOf(first))), ['reconfigure', 'not_supported'])
      assert.deepEqual(await connectorErrorOf(read()), ['retry', 'conflict'])
      await xa.query(`xa rollback 'one'`)
      assert.deepEqual(operations(await read()), [])
    })

    test('that the log lacks are refused before a copy, with what to do', async () => {
      await query('create table other (id int, name text)')
      await query('create table child (id int primary key, foreign key (id) references people (id) on delete cascade)')
      await query('create view seen as select * from people')
      const failures: [Values, string][] = [
        [{ table: 'nothing' }, 'table_not_found'],
        [{ table: 'other' }, 'invalid_key'],
        [{ table: 'child' }, 'not_supported'],
        [{ table: 'seen' }, 'not_supported'],
        [{ dataSourceType: 'SQL Query', sqlQuery: 'select 1', table: '' }, 'invalid_setting'],
      ]
      for (const [wrong, code] of failures) {
        const [, found] = await connectorErrorOf(read(undefined, undefined, wrong))
        assert.equal(found, code, JSON.stringify(wrong))
      }
      for (const [name, value, right] of [
        ['binlog_format', 'MIXED', 'ROW'],
        ['binlog_row_image', 'MINIMAL', 'FULL'],
        ['binlog_row_metadata', 'MINIMAL', 'FULL'],
      ] as const) {
        await administer(`set global ${name} = ${value}`)
        await assert.rejects(read(), new RegExp(`${name} is ${value}\\. Run: SET GLOBAL ${name} = ${right}`))
        await administer(`set global ${name} = ${right}`)
      }
      await administer(`create user reader@'127.0.0.1' identified by 'canary-of-mariadb'`)
      await administer(`grant select on penstock.* to reader@'127.0.0.1'`)
      const asReader = () => readAll(mysql, { secrets: { ...secrets, user: 'reader' }, settings: base })
      await assert.rejects(asReader(), /GRANT REPLICATION SLAVE, REPLICATION CLIENT ON \*\.\* TO `reader`/)
      await administer(`grant replication client on *.* to reader@'127.0.0.1'`)
      await assert.rejects(asReader(), /cannot read the binary log\. Run: GRANT REPLICATION SLAVE/)
      await administer(`grant replication slave on *.* to reader@'127.0.0.1'`)
      if (!isMariadb) await assert.rejects(asReader(), /GRANT LOCK TABLES ON `penstock`\.\* TO `reader`/)
      await administer(`grant lock tables on penstock.* to reader@'127.0.0.1'`)
      assert.deepEqual(operations(await asReader()), [])
    })

    test('in a preview are rows of the table, with a warning if the log is kept for hours', async () => {
      await query(`insert into people values (1, 'Ada', null)`)
      await administer('set global binlog_expire_logs_seconds = 3600')
      const reader = await open(undefined, {}, true)
      assert.ok(reader)
      const chunks: Chunk[] = []
      for await (const chunk of reader.read()) chunks.push(chunk)
      assert.deepEqual(
        (await reader.findings?.(5_000))?.map(({ code }) => code),
        ['changes_kept_briefly'],
      )
      await administer('set global binlog_expire_logs_seconds = 864000')
      await reader.close()
      assert.deepEqual(operations(chunks), [['copy', 1, 'Ada', null]])
    })

    test('make a copy that equals the table, whatever is changed, and wherever a transfer stops', async () => {
      const edit = fc.oneof(
        fc.record({
          do: fc.constant('put' as const),
          id: fc.nat({ max: 8 }),
          name: fc.string({ maxLength: 5, unit: 'grapheme' }),
        }),
        fc.record({ do: fc.constant('remove' as const), id: fc.nat({ max: 8 }) }),
        fc.record({ do: fc.constant('move' as const), id: fc.nat({ max: 8 }), to: fc.nat({ max: 8 }) }),
      )
      const step = fc.oneof(
        { weight: 3, arbitrary: fc.array(edit, { maxLength: 4 }).map((edits) => ({ edits })) },
        { weight: 2, arbitrary: fc.record({ stopAfter: fc.nat({ max: 3 }), loses: fc.boolean() }) },
      )
      const client = await server.connect()
      await fc.assert(
        fc.asyncProperty(fc.array(step, { maxLength: 14 }), async (steps) => {
          await query('delete from people')
          const copy = new Map<Cell, Cell[]>()
          let cursor: Json | undefined
          const run = async (stopAfter: number, loses: boolean) => {
            const chunks = await read(cursor)
            for (const chunk of chunks.slice(0, stopAfter)) {
              for (const row of chunk.rows) {
                if (row.at(-3) === 'delete') copy.delete(row[0] ?? null)
                else copy.set(row[0] ?? null, row.slice(0, -3))
              }
              // Rows that were delivered without a confirmation come again.
              if (!loses && chunk.cursor !== undefined) cursor = chunk.cursor
            }
          }
          for (const one of steps) {
            if ('edits' in one) {
              await client.query('begin')
              for (const each of one.edits) {
                if (each.do === 'put') {
                  await client.query(
                    'insert into people values (?, ?, null) on duplicate key update name = values(name)',
                    [each.id, each.name],
                  )
                } else if (each.do === 'remove') await client.query('delete from people where id = ?', [each.id])
                else await client.query('update ignore people set id = ? where id = ?', [each.to, each.id])
              }
              await client.query('commit')
            } else await run(one.stopAfter, one.loses)
          }
          await run(Number.POSITIVE_INFINITY, false)
          const table = await query<{ id: number; name: string }>('select id, name from people order by id')
          const copied = [...copy.values()]
            .map(([id, name]) => ({ id, name }))
            .sort((a, b) => Number(a.id) - Number(b.id))
          assert.deepEqual(copied, table)
        }),
        { numRuns: 25 },
      )
      await client.end()
    })

    test('since a copy began come, though it was interrupted before its first row was confirmed', async () => {
      await query(`insert into people values (1, 'Ada', null), (2, 'Bob', null)`)
      const [begun] = await read()
      assert.deepEqual(begun?.rows, [])
      // The destination may have both rows.
      await query('delete from people where id = 2')
      assert.deepEqual(operations(await read(undefined, begun.checkpoint)), [
        ['copy', 1, 'Ada', null],
        ['delete', 2, 'Bob', null],
      ])
    })

    for (const meanwhile of [undefined, halfAnEvent])
      test(`survive a crash of the server${meanwhile ? ' that leaves half an event' : ''}`, async () => {
        await query(`insert into people values (1, 'Ada', null)`)
        const first = await read()
        await query(`insert into people values (2, 'Bob', null)`)
        await server.crash(meanwhile)
        await query(`insert into people values (3, 'Cy', null)`)
        const second = await read(cursorOf(first))
        assert.deepEqual(operations(second), [
          ['insert', 2, 'Bob', null],
          ['insert', 3, 'Cy', null],
        ])
        assert.deepEqual(operations(await read(cursorOf(second))), [])
      })
  })
}
