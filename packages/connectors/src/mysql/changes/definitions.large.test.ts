import assert from 'node:assert/strict'
import { after, beforeEach, describe, test } from 'node:test'
import type { Cell, Chunk, Json, Values } from '@penstock/connector'
import { testContext } from '@penstock/connector/acceptance'
import { skipWithout } from '../../../../../test/harness/programs.ts'
import { loggingOptions, startMariadb } from '../../../test/mariadb.ts'
import { connectorErrorOf, readAll, rowsOf } from '../../../test/tables.ts'
import { mysql } from '../mysql.ts'

/** Kinds of tables, and definitions that change while the log is read. */

const server = await startMariadb(loggingOptions)
after(() => server?.stop())

if (!server) test('changes of kinds of tables of MariaDB', { skip: skipWithout('mariadbd') }, () => {})
else {
  const { query, administer, secrets, isMariadb } = server
  const base: Values = { table: 'people', syncMode: 'Changes', deletes: 'Add' }
  const read = (cursor?: Json, checkpoint?: Json, as: Values = {}) =>
    readAll(
      mysql,
      { secrets: { ...secrets, ...as }, settings: base, ...(cursor !== undefined && { cursor }) },
      checkpoint,
    )
  const cursorOf = (chunks: readonly Chunk[]): Json => {
    const cursor = chunks.at(-1)?.cursor
    assert.ok(cursor !== undefined, 'the last chunk has a cursor')
    return cursor
  }
  /** The rows with the operation, without its time and place. */
  const operations = (chunks: readonly Chunk[]) =>
    rowsOf(chunks).map((row) => [row.at(-3), ...row.slice(0, -3)] as Cell[])
  const lost = ['reconfigure', 'changes_lost']

  await administer(`grant replication slave, replication client on *.* to penstock@'127.0.0.1'`)

  beforeEach(async () => {
    await query('drop table if exists child, people, other')
  })

  describe('changes of a system-versioned table', { skip: !isMariadb }, () => {
    const forms = {
      'with hidden columns': [
        'id int primary key, name text, note text without system versioning',
        'with system versioning',
      ],
      'with its own columns': [
        `id int primary key, name text, note text without system versioning,
         since timestamp(6) generated always as row start invisible, upto timestamp(6) generated always as row end invisible,
         period for system_time (since, upto)`,
        'with system versioning',
      ],
      'with partitions': [
        'id int primary key, name text, note text without system versioning',
        'with system versioning partition by system_time (partition p0 history, partition p1 current)',
      ],
    }
    for (const [form, [columns, more]] of Object.entries(forms)) {
      test(`${form} are of its present rows`, async () => {
        await query(`create table people (${columns}) ${more}`)
        await query(`insert into people (id, name) values (1, 'Ada'), (2, 'Bob'), (3, 'Cy')`)
        await query(`update people set name = 'Bo' where id = 2`)
        await query('delete from people where id = 3')
        await administer(`set global system_versioning_asof = '2020-01-01 00:00:00'`)
        const first = await read()
        await administer(`set global system_versioning_asof = default`)
        assert.deepEqual(operations(first), [
          ['copy', 1, 'Ada', null],
          ['copy', 2, 'Bo', null],
        ])
        await query(`update people set name = 'Ada L.' where id = 1`)
        await query(`update people set note = 'x' where id = 1`)
        await query('delete from people where id = 2')
        await query('delete history from people')
        await query(`insert into people (id, name) values (2, 'Bob')`)
        await query(`update people set id = 4 where id = 2`)
        const second = await read(cursorOf(first))
        assert.deepEqual(operations(second), [
          ['update', 1, 'Ada L.', null],
          ['update', 1, 'Ada L.', 'x'],
          ['delete', 2, 'Bo', null],
          ['insert', 2, 'Bob', null],
          ['delete', 2, 'Bob', null],
          ['update', 4, 'Bob', null],
        ])
      })
    }

    test('that was not one before, or is none any more, are not read as if it were', async () => {
      await query('create table people (id int primary key, name text)')
      const plain = cursorOf(await read())
      await query('alter table people add system versioning')
      await query(`insert into people values (1, 'Ada')`)
      await query(`update people set name = 'A'`)
      await assert.rejects(read(plain), /System versioning was added to penstock\.people or removed from it/)
      const versions = cursorOf(await read())
      await query(`update people set name = 'B'`)
      await query('alter table people drop system versioning')
      await query('alter table people add system versioning')
      assert.deepEqual(await connectorErrorOf(read(versions)), lost)
      await query('alter table people drop system versioning')
      assert.deepEqual(await connectorErrorOf(read(versions)), lost)
    })

    test('by transactions are refused, since they are logged as statements', async () => {
      await query(`create table people (id int primary key, since bigint unsigned generated always as row start,
        upto bigint unsigned generated always as row end, period for system_time (since, upto)) with system versioning`)
      await assert.rejects(read(), /versioned by transactions/)
    })
  })

  describe('changes of other kinds of tables', () => {
    test('with a period of the application come with its key', { skip: !isMariadb }, async () => {
      await query(`create table people (id int, since date, upto date, name text, period for valid (since, upto),
        primary key (id, valid without overlaps))`)
      await query(`insert into people values (1, '2020-01-01', '2021-01-01', 'Ada')`)
      const first = await read()
      await query(`delete from people for portion of valid from '2020-02-01' to '2020-03-01'`)
      assert.deepEqual(operations(await read(cursorOf(first))), [
        ['delete', 1, '2020-01-01', '2021-01-01', 'Ada'],
        ['update', 1, '2020-01-01', '2020-02-01', 'Ada'],
        ['insert', 1, '2020-03-01', '2021-01-01', 'Ada'],
      ])
    })

    test('with hidden, computed and compressed columns have the values of the others', {
      skip: !isMariadb,
    }, async () => {
      await query(`create table people (id int primary key, hidden int invisible default 7, twice int as (id * 2) virtual,
        next int as (id + 1) stored, name text compressed)`)
      const first = await read()
      await query(`insert into people (id, name) values (1, 'Ada')`)
      await query(`update people set hidden = 8`)
      assert.deepEqual(operations(await read(cursorOf(first))), [
        ['insert', 1, 2, 2, 'Ada'],
        ['update', 1, 2, 2, 'Ada'],
      ])
    })

    test('are whole, though a session logs parts of rows', async () => {
      await query('create table people (id int primary key, name text, note text)')
      await query(`insert into people values (1, 'Ada', 'x'), (2, 'Bob', 'y')`)
      const first = await read()
      for (const image of ['MINIMAL', 'NOBLOB']) {
        await administer(`set session binlog_row_image = ${image}`)
        await administer(`update penstock.people set name = '${image}' where id = 1`)
      }
      await administer(`delete from penstock.people where id = 2`)
      await administer(`set session binlog_row_image = FULL`)
      const changes = operations(await read(cursorOf(first)))
      assert.deepEqual(changes.at(-2), ['update', 1, 'NOBLOB', 'x'])
      assert.deepEqual(changes.at(-1)?.slice(0, 2), ['delete', 2])
    })

    test('without transactions are refused before a copy', async () => {
      for (const engine of isMariadb ? ['MyISAM', 'Aria', 'MEMORY'] : ['MyISAM', 'MEMORY']) {
        await query(`create or replace table people (id int primary key) engine = ${engine}`)
        await assert.rejects(read(), new RegExp(`stored by the engine ${engine}.*ENGINE = InnoDB`))
      }
    })

    test('that a foreign key changes are refused, though the user can only read', async () => {
      await query('create table other (id int primary key)')
      await administer(`create or replace user watcher@'127.0.0.1' identified by 'canary-of-mariadb'`)
      await administer(`grant select on penstock.* to watcher@'127.0.0.1'`)
      await administer(`grant replication slave, replication client on *.* to watcher@'127.0.0.1'`)
      for (const action of ['on delete cascade', 'on delete set null', 'on update cascade', 'on update set null']) {
        await query(`create or replace table people (id int primary key, at int, constraint \`of other\` foreign key (at)
          references other (id) ${action})`)
        await assert.rejects(
          read(undefined, undefined, { user: 'watcher' }),
          /The foreign key of other of people/,
          action,
        )
      }
      await query(`create or replace table people (id int primary key comment 'CONSTRAINT ON DELETE CASCADE', at int,
        constraint own foreign key (at) references other (id))`)
      assert.deepEqual(operations(await read(undefined, undefined, { user: 'watcher' })), [])
    })
  })

  describe('changes around', () => {
    /** The rows of a destination that writes by key, with columns by their names. */
    const applied = (transfers: readonly (readonly Chunk[])[]) => {
      const table = new Map<Cell, Record<string, Cell>>()
      for (const { columns, rows } of transfers.flat()) {
        for (const row of rows) {
          const {
            _operation,
            _committed_time: _,
            _position: __,
            ...values
          } = Object.fromEntries(columns.map((name, at) => [name, row[at] ?? null]))
          const { id = null } = values
          if (_operation === 'delete') table.delete(id)
          else table.set(id, { ...table.get(id), ...values })
        }
      }
      return [...table.values()]
    }
    const cases: Record<string, string[]> = {
      'a column with a default': [`alter table people add column city varchar(20) default 'London'`],
      'a dropped column': ['alter table people drop column note'],
      'a renamed column': ['alter table people rename column note to remark'],
      'two columns that exchange their names': [
        'alter table people rename column note to name, rename column name to note',
      ],
      'a column of another type': ['alter table people modify column name varbinary(20)'],
      'a column that rounds': ['alter table people modify column amount decimal(10,1)'],
      'a column that was dropped and added again': [
        `alter table people drop column note, add column note varchar(20) default 'new'`,
      ],
      'a column that was dropped, and later added again': [
        'alter table people drop column note',
        `update people set name = 'between' where id = 1`,
        'alter table people add column note varchar(20)',
      ],
      'columns in another order': [
        'alter table people modify column note varchar(20) first, modify column amount decimal(10,3) after id',
      ],
      'several of these': [
        `alter table people add column city text default 'x'`,
        'delete from people where id = 2',
        'alter table people change city town varchar(9) not null default "y"',
        `insert into people (id, town) values (7, 'Paris')`,
      ],
    }
    for (const [what, statements] of Object.entries(cases)) {
      test(`${what} leave each value in its column, in all rows`, async () => {
        await query(
          'create table people (id int primary key, name varchar(20), note varchar(20), amount decimal(10,3))',
        )
        await query(`insert into people values (1, 'Ada', 'n1', 1.26), (2, 'Bob', 'n2', 2.26), (3, 'Cy', 'n3', 3.26)`)
        const first = await read()
        await query(`update people set name = 'before', note = 'was' where id in (1, 3)`)
        await query(`delete from people where id = 3`)
        for (const statement of statements) await query(statement)
        await query(`insert into people (id, name) values (4, 'after')`)
        const second = await read(cursorOf(first))
        const third = await read(cursorOf(second))
        assert.deepEqual(operations(third), [])
        const now = (await read()).map((chunk) => ({ ...chunk }))
        const names = now[0]?.columns ?? []
        const only = (rows: Record<string, Cell>[]) =>
          rows
            .map((row) =>
              Object.fromEntries(
                Object.entries(row)
                  .filter(([name]) => names.includes(name))
                  .toSorted(),
              ),
            )
            .toSorted((a, b) => Number(a.id) - Number(b.id))
        assert.deepEqual(only(applied([first, second])), only(applied([now])))
        for (const [at, { checkpoint }] of second.entries()) {
          const rest = await read(cursorOf(first), checkpoint)
          assert.deepEqual(
            only(applied([first, second.slice(0, at + 1), rest])),
            only(applied([now])),
            `after chunk ${at}`,
          )
        }
        for (const [at, { cursor }] of second.entries()) {
          if (cursor === undefined) continue
          const rest = await read(cursor)
          assert.deepEqual(only(applied([first, second.slice(0, at + 1), rest])), only(applied([now])), `cursor ${at}`)
        }
      })
    }

    test('a start log how far behind the transfer is', async () => {
      await query('create table people (id int primary key, name text)')
      const cursor = cursorOf(await read())
      const logged: string[] = []
      const again = async () => {
        logged.length = 0
        const context = testContext({ secrets, settings: base, cursor })
        const reader = await mysql.source?.open?.({ ...context, log: (text) => void logged.push(text) })
        assert.ok(reader)
        for await (const _ of reader.read());
        await reader.close()
        return logged.join('\n')
      }
      assert.match(await again(), /^0 bytes of the binary log are to be read, from \S+ on \(1 file\)\./)
      await query(`insert into people values (1, repeat('a', 5000))`)
      await administer('flush binary logs')
      await query(`insert into people values (2, 'b')`)
      const [, bytes] = /^(\d+) bytes .*\(2 files\)\. .* It keeps files until/.exec(await again()) ?? []
      assert.ok(Number(bytes) > 5_000 && Number(bytes) < 20_000, logged.join('\n'))
      await administer('set global binlog_expire_logs_seconds = 864000')
      assert.match(await again(), /It removes files after 240 hours\.$/)
      await administer('set global binlog_expire_logs_seconds = 0')
    })

    test('a failover name the other server, wherever the place is in its file', async () => {
      await query('create table people (id int primary key, name text)')
      await query(`insert into people values (1, repeat('a', 3000))`)
      const cursor = cursorOf(await read()) as { file: string; position: number }
      const foreign = { ...cursor, log: '3:1' }
      for (const position of [4, cursor.position, cursor.position - 1, cursor.position - 700, 90_000_000]) {
        await assert.rejects(read({ ...foreign, position }), /the server was replaced, as by a failover/, `${position}`)
        assert.deepEqual(await connectorErrorOf(read({ ...foreign, position })), lost)
      }
    })
  })
}
