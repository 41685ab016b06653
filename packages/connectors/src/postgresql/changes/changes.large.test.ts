import assert from 'node:assert/strict'
import { after, beforeEach, describe, test } from 'node:test'
import type { Cell, Chunk, Json, Values } from '@penstock/connector'
import { testContext } from '@penstock/connector/acceptance'
import pg from 'pg'
import { startLogicalPostgres } from '../../../../../test/harness/logical-postgres.ts'
import fc from '../../../../../test/harness/property.ts'
import { connectorErrorOf, readAll, rowsOf } from '../../../test/tables.ts'
import { postgresql } from '../postgresql.ts'

const server = await startLogicalPostgres({ max_slot_wal_keep_size: '64MB' })
after(() => server.stop())
const { hostname, port, pathname, username, password } = new URL(server.url)
const secrets: Values = {
  host: hostname,
  port: Number(port),
  database: pathname.slice(1),
  user: username,
  password: decodeURIComponent(password),
  tlsMode: 'disable',
}
const pool = new pg.Pool({ connectionString: server.url, max: 4 })
pool.on('error', () => {})
after(() => pool.end())
const query = async <R extends pg.QueryResultRow = pg.QueryResultRow>(
  text: string,
  values?: unknown[],
): Promise<R[]> => {
  const result: pg.QueryResult<R> | pg.QueryResult<R>[] = await pool.query<R>(text, values)
  return (Array.isArray(result) ? result.at(-1) : result)?.rows ?? []
}

let slots = 0
let settings: Values = {}
beforeEach(async () => {
  await query(`select pg_drop_replication_slot(slot_name) from pg_replication_slots`)
  await query('drop publication if exists penstock; drop schema if exists crm cascade; create schema crm')
  await query('create table crm.people (id int primary key, name text, note text, tags text[])')
  await query('create publication penstock for table crm.people')
  slots += 1
  settings = {
    schema: 'crm',
    table: 'people',
    syncMode: 'Changes',
    publication: 'penstock',
    slot: `penstock_${slots}`,
    deletes: 'Add',
  }
})

const read = (cursor?: Json, after?: Json, more: Values = {}) =>
  readAll(
    postgresql,
    { secrets, settings: { ...settings, ...more }, ...(cursor === undefined ? {} : { cursor }) },
    after,
  )

/** The place at which the next transfer continues once all of these are confirmed. */
function cursorOf(chunks: readonly Chunk[]): Json {
  const cursor = chunks.at(-1)?.cursor
  assert.ok(cursor !== undefined, 'the last chunk has a cursor')
  return cursor
}

/** The rows with the operation, without its time and place. */
const operations = (chunks: readonly Chunk[]) =>
  rowsOf(chunks).map((row) => [row.at(-3), ...row.slice(0, -3)] as Cell[])

describe('changes of a table of PostgreSQL', () => {
  test('are its rows first, then inserts, updates and removals, each once', async () => {
    await query(`insert into crm.people values (1, 'Ada', null, '{a,b}'), (2, 'Bob', 'x', null)`)
    const first = await read()
    assert.deepEqual(first[0]?.columns, ['id', 'name', 'note', 'tags', '_operation', '_committed_time', '_lsn'])
    assert.deepEqual(operations(first), [
      ['copy', 1, 'Ada', null, '["a","b"]'],
      ['copy', 2, 'Bob', 'x', null],
    ])
    await query(`insert into crm.people values (3, 'Cy', null, '{"c d",null}')`)
    await query(`update crm.people set name = 'Bo' where id = 2`)
    await query(`begin; update crm.people set id = 10 where id = 1; delete from crm.people where id = 2; commit`)
    const second = await read(cursorOf(first))
    assert.deepEqual(operations(second), [
      ['insert', 3, 'Cy', null, '["c d",null]'],
      ['update', 2, 'Bo', 'x', null],
      ['delete', 1, null, null, null],
      ['update', 10, 'Ada', null, '["a","b"]'],
      ['delete', 2, null, null, null],
    ])
    assert.match(String(rowsOf(second)[0]?.at(-2)), /^20\d\d-.*Z$/)
    assert.deepEqual(operations(await read(cursorOf(second))), [])
  })

  test('without removals and the columns of the change are rows of the table', async () => {
    await query(`insert into crm.people values (1, 'Ada', null, null)`)
    const plain = { deletes: 'Skip' }
    const first = await read(undefined, undefined, plain)
    await query(`delete from crm.people; insert into crm.people values (2, 'Bob', null, '{}')`)
    const second = await read(cursorOf(first), undefined, plain)
    assert.deepEqual([second[0]?.columns, rowsOf(second)], [['id', 'name', 'note', 'tags'], [[2, 'Bob', null, '[]']]])
  })

  test('have the values that PostgreSQL leaves out because they are large and have not changed', async () => {
    const note = Array.from({ length: 4_000 }, (_, i) => i.toString(36)).join('')
    await query(`alter table crm.people alter note set storage external`)
    await query(`insert into crm.people values (1, 'Ada', $1, null), (2, 'Bob', $1, null)`, [note])
    const first = await read()
    await query(`update crm.people set name = name || '!'`)
    await query(`delete from crm.people where id = 2`)
    const second = await read(cursorOf(first))
    const short = (rows: Cell[][]) => rows.map((row) => row.map((cell) => (cell === note ? 'the note' : cell)))
    assert.deepEqual(short(operations(second)), [
      ['update', 1, 'Ada!', 'the note', null],
      ['delete', 2, null, null, null],
    ])
    await query('alter table crm.people replica identity full')
    await query(`update crm.people set name = 'Eve'; delete from crm.people`)
    const third = short(operations(await read(cursorOf(second))))
    assert.deepEqual(third, [
      ['update', 1, 'Eve', 'the note', null],
      ['delete', 1, 'Eve', 'the note', null],
    ])
  })

  test('that the copy has seen do not come again, and all others do', async () => {
    const slow = await pool.connect()
    try {
      await query(`insert into crm.people values (1, 'Ada', null, null)`)
      // The slot is made before the copy: what happens in between is in both.
      await query(`select pg_create_logical_replication_slot($1, 'pgoutput')`, [settings.slot])
      await slow.query('begin')
      await slow.query(`insert into crm.people values (2, 'slow', null, null)`)
      await query(`insert into crm.people values (3, 'seen', null, null)`)
      const context = testContext({ secrets, settings })
      const reader = await postgresql.source?.open?.(context)
      assert.ok(reader)
      const chunks: Chunk[] = []
      for await (const chunk of reader.read()) {
        // The copy has been read, and the changes have not.
        if (chunks.length === 0) await slow.query('commit')
        chunks.push(chunk)
      }
      await reader.close()
      assert.deepEqual(operations(chunks), [
        ['copy', 1, 'Ada', null, null],
        ['copy', 3, 'seen', null, null],
        ['insert', 2, 'slow', null, null],
      ])
    } finally {
      slow.release()
    }
  })

  test('since a copy began come, though it was interrupted before its first row was confirmed', async () => {
    await query(`insert into crm.people values (1, 'Ada', null, null), (2, 'Bob', null, null)`)
    const [begun] = await read()
    assert.deepEqual(begun?.rows, [])
    // The destination may have both rows.
    await query(`delete from crm.people where id = 2`)
    assert.deepEqual(operations(await read(undefined, begun.checkpoint)), [
      ['copy', 1, 'Ada', null, null],
      ['delete', 2, null, null, null],
    ])
  })

  test('resume after any checkpoint, in the middle of a transaction too', async () => {
    await query(`insert into crm.people select i, 'n' || i, null, null from generate_series(1, 12000) i`)
    const first = await read()
    for (const [at, { checkpoint }] of first.entries()) {
      assert.deepEqual(operations(await read(undefined, checkpoint)), operations(first.slice(at + 1)), `chunk ${at}`)
    }
    await query(`update crm.people set name = 'm' || id; insert into crm.people values (0, 'zero', null, null)`)
    await query(`update crm.people set id = -id where id between 1 and 3000`)
    const second = await read(cursorOf(first))
    assert.equal(rowsOf(second).length, 12_001 + 6_000)
    assert.ok(second.length > 3)
    for (const [at, { checkpoint }] of second.entries()) {
      const rest = operations(second.slice(at + 1))
      assert.deepEqual(operations(await read(cursorOf(first), checkpoint)), rest, `after chunk ${at}`)
    }
    for (const [at, { rows, cursor, cursorAfter }] of second.entries()) {
      const some = rows.length === 0 ? [] : [0, 1, rows.length >> 1, (rows.length >> 1) + 1]
      for (const count of some) {
        const [rest, others] = [operations(second.slice(at)), operations(await read(cursorAfter?.(count)))]
        const begin = rest.length - others.length
        assert.deepEqual(others, rest.slice(begin))
        // An update of a key gives two rows, between which no transfer begins.
        if (begin !== count)
          assert.deepEqual([begin, rest[begin]?.[0], rest[count]?.[0]], [count - 1, 'delete', 'update'])
      }
      assert.ok(cursor)
      assert.deepEqual(cursorAfter?.(rows.length) ?? cursor, cursor)
      assert.deepEqual(
        operations(await read(cursor)),
        operations(second.slice(at + 1)),
        `in another transfer after chunk ${at}`,
      )
    }
  })

  test('come in transfers of about as many as the setting says', async () => {
    const first = await read()
    for (let i = 0; i < 30; i++) {
      await query(`insert into crm.people select $1::int * 1000 + i, 'n', null, null from generate_series(1, 100) i`, [
        i,
      ])
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

  test('are read until the server keeps nothing for the slot that was confirmed, whatever table it was of', async () => {
    await query('create table crm.other (id int)')
    const first = await read()
    await query(`insert into crm.other select generate_series(1, 10000)`)
    const second = await read(cursorOf(first))
    assert.deepEqual(operations(second), [])
    await read(cursorOf(second))
    const [slot] = await query<{ lsn: string }>(`select confirmed_flush_lsn::text as lsn from pg_replication_slots`)
    assert.equal(slot?.lsn, (cursorOf(second) as { lsn: string }).lsn)
  })

  test('are the same if the columns of the table changed in between', async () => {
    await query(`insert into crm.people values (1, 'Ada', null, null)`)
    const first = await read()
    await query(`update crm.people set name = 'Ada L.'`)
    await query(`alter table crm.people add column city text default 'London', drop column note`)
    await query(`insert into crm.people values (2, 'Bob', '{}', 'Paris')`)
    const second = await read(cursorOf(first))
    assert.deepEqual(operations(second), [
      ['update', 1, 'Ada L.', null, 'London'],
      ['insert', 2, 'Bob', '[]', 'Paris'],
    ])
  })

  test('that are gone are never passed over', async () => {
    await query(`insert into crm.people values (1, 'Ada', null, null)`)
    const first = await read()
    const cursor = cursorOf(first)
    await query(`insert into crm.people values (2, 'Bob', null, null)`)
    const second = await read(cursor)
    await read(cursorOf(second))
    await query(`insert into crm.people values (3, 'Cy', null, null)`)
    assert.deepEqual(await connectorErrorOf(read(cursor)), ['reconfigure', 'changes_lost'], 'it was read by another')
    await query(`select pg_drop_replication_slot($1)`, [settings.slot])
    assert.deepEqual(await connectorErrorOf(read(cursorOf(second))), ['reconfigure', 'changes_lost'], 'it was dropped')
    const again = await read()
    assert.equal(rowsOf(again).length, 3, 'without a cursor all rows are copied again')
    await query('create table crm.other (text text)')
    for (let i = 0; i < 12; i++) {
      await query(
        `insert into crm.other select repeat('x', 8000) from generate_series(1, 1500); select pg_switch_wal(); checkpoint`,
      )
    }
    const [slot] = await query<{ status: string }>(`select wal_status as status from pg_replication_slots`)
    assert.equal(slot?.status, 'lost')
    assert.deepEqual(await connectorErrorOf(read(cursorOf(again))), ['reconfigure', 'changes_lost'], 'it was lost')
    assert.equal(rowsOf(await read()).length, 3, 'and a lost slot is made again')
  })

  test('that cannot be followed are said', async () => {
    const first = await read()
    await query(`insert into crm.people values (1, 'Ada', null, null)`)
    await query('truncate crm.people')
    assert.deepEqual(operations(await read(cursorOf(first))), [
      ['insert', 1, 'Ada', null, null],
      ['truncate', null, null, null, null],
    ])
    assert.deepEqual(await connectorErrorOf(read(cursorOf(first), undefined, { deletes: 'Skip' })), [
      'reconfigure',
      'changes_lost',
    ])
    await query('create table crm.bare (id int)')
    await query('create table crm.parts (id int primary key) partition by range (id)')
    await query('create table crm.other (id int primary key)')
    await query('create view crm.seen as select * from crm.people')
    const failures: [Values, string][] = [
      [{ publication: 'nothing' }, 'object_not_found'],
      [{ table: 'bare' }, 'invalid_key'],
      [{ table: 'parts' }, 'invalid_setting'],
      [{ table: 'other' }, 'object_not_found'],
      [{ table: 'seen' }, 'not_supported'],
      [{ keyColumns: 'name' }, 'invalid_key'],
      [{ slot: 'Not a name' }, 'invalid_setting'],
      [{ dataSourceType: 'SQL Query', sqlQuery: 'select 1', table: '' }, 'invalid_setting'],
    ]
    for (const [wrong, code] of failures) {
      const [, found] = await connectorErrorOf(read(undefined, undefined, wrong))
      assert.equal(found, code, JSON.stringify(wrong))
    }
    await query('alter publication penstock add table crm.parts')
    await query('alter publication penstock set (publish_via_partition_root = true)')
    await query('create table crm.parts_1 partition of crm.parts for values from (0) to (10)')
    const copied = await read(undefined, undefined, { table: 'parts' })
    await query('insert into crm.parts values (7)')
    assert.deepEqual(operations(await read(cursorOf(copied), undefined, { table: 'parts' })), [['insert', 7]])
  })

  test('in a preview are rows of the table, and nothing is made', async () => {
    await query(`insert into crm.people values (1, 'Ada', null, null)`)
    const reader = await postgresql.source?.open?.({
      ...testContext({ secrets, settings }),
      sample: { noAnswerMs: 1_000 },
    })
    assert.ok(reader)
    const chunks: Chunk[] = []
    for await (const chunk of reader.read()) chunks.push(chunk)
    assert.deepEqual(await reader.findings?.(5_000), [])
    await reader.close()
    assert.deepEqual(operations(chunks), [['copy', 1, 'Ada', null, null]])
    assert.deepEqual(await query('select from pg_replication_slots'), [])
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
    await fc.assert(
      fc.asyncProperty(fc.array(step, { maxLength: 14 }), async (steps) => {
        await query(`select pg_drop_replication_slot(slot_name) from pg_replication_slots`)
        await query('truncate crm.people')
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
            const client = await pool.connect()
            await client.query('begin')
            for (const each of one.edits) {
              if (each.do === 'put') {
                const name = each.name.replaceAll('\0', '')
                await client.query(
                  `insert into crm.people values ($1, $2, null, null) on conflict (id) do update set name = excluded.name`,
                  [each.id, name],
                )
              } else if (each.do === 'remove') await client.query('delete from crm.people where id = $1', [each.id])
              else {
                await client.query(
                  'update crm.people set id = $2 where id = $1 and not exists (select from crm.people where id = $2)',
                  [each.id, each.to],
                )
              }
            }
            await client.query('commit')
            client.release()
          } else await run(one.stopAfter, one.loses)
        }
        await run(Number.POSITIVE_INFINITY, false)
        const table = await query<{ id: number; name: string }>('select id, name from crm.people order by id')
        const copied = [...copy.values()]
          .map(([id, name]) => ({ id, name }))
          .sort((a, b) => Number(a.id) - Number(b.id))
        assert.deepEqual(copied, table)
      }),
      { numRuns: 25 },
    )
  })

  test('survive a crash of the server', async () => {
    await query(`insert into crm.people values (1, 'Ada', null, null)`)
    const first = await read()
    await query(`insert into crm.people values (2, 'Bob', null, null)`)
    await server.crash()
    const second = await read(cursorOf(first))
    assert.deepEqual(operations(second), [['insert', 2, 'Bob', null, null]])
    assert.deepEqual(operations(await read(cursorOf(second))), [])
  })
})
