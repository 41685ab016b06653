import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import type { Json } from '@penstock/connector'
import fc from '../../../../../test/harness/property.ts'
import { type ChangesScene, lastCursor, startChanges } from '../../../test/postgresql-changes.ts'

/** Rows that have each other's keys for a while, written by upserts and removals, are the rows of the source in the end. */

let scene: ChangesScene
before(async () => {
  scene = await startChanges()
})
after(() => scene.close())

const rowsIn = (table: string) => scene.query<{ note: string | null }>(`select * from ${table} order by id`)

/** A table of which each row may take the key of another one before the end of its transaction. */
async function begin(key: string, identity: string): Promise<void> {
  await scene.clear()
  await scene.query(`create table crm.people (id int not null, name text, note text, ${key});
    alter table crm.people alter note set storage external; alter table crm.people replica identity ${identity};
    create table copies.people (id int primary key, name text, note text);
    create publication penstock for table crm.people`)
}

const deferrable = 'primary key (id) deferrable initially deferred'

describe('rows that take the keys of each other', () => {
  for (const statement of [
    'update crm.people set id = 4 - id',
    'update crm.people set id = id + 1',
    'update crm.people set id = id - 1',
    `begin; update crm.people set id = 2 where id = 1; update crm.people set id = 1 where name = 'n2'; commit`,
    `begin; insert into crm.people values (2, 'new'); delete from crm.people where id = 2 and name = 'new'; commit`,
    `begin; insert into crm.people values (2, 'new'); delete from crm.people where id = 2 and name = 'n2'; commit`,
    'begin; delete from crm.people where id = 3; update crm.people set id = 3 where id = 2; commit',
  ]) {
    test(`stay: ${statement}`, async () => {
      await begin(deferrable, 'full')
      await scene.query(`insert into crm.people select i, 'n' || i, 'x' from generate_series(1, 3) i`)
      const first = await scene.read(undefined, { keyColumns: 'id' })
      await scene.write('people', first)
      await scene.query(statement)
      await scene.write('people', await scene.read(lastCursor(first), { keyColumns: 'id' }))
      assert.deepEqual(await rowsIn('copies.people'), await rowsIn('crm.people'))
    })
  }

  test('stay if they are more than one batch has, wherever a transfer stops', async () => {
    await begin(deferrable, 'full')
    await scene.query(`insert into crm.people select i, 'n' || i from generate_series(1, 6000) i`)
    const first = await scene.read()
    await scene.query('update crm.people set id = 6001 - id')
    const second = await scene.read(lastCursor(first))
    assert(second.length > 2)
    for (const [at, { cursor }] of second.entries()) {
      await scene.query('truncate copies.people')
      await scene.write('people', first)
      await scene.write('people', second.slice(0, at + 1))
      await scene.write('people', await scene.read(cursor))
      assert.deepEqual(await rowsIn('copies.people'), await rowsIn('crm.people'), `after chunk ${at}`)
    }
  })

  test('are never removed if removals are skipped', async () => {
    await begin(deferrable, 'full')
    await scene.query(`insert into crm.people select i, 'n' || i from generate_series(1, 3) i`)
    const skip = { deletes: 'Skip' }
    const first = await scene.read(undefined, skip)
    await scene.write('people', first)
    await scene.query('update crm.people set id = 4 - id')
    await scene.write('people', await scene.read(lastCursor(first), skip))
    assert.deepEqual(await rowsIn('copies.people'), await rowsIn('crm.people'))
  })

  const id = fc.nat({ max: 5 })
  const large = fc.constantFrom('', 'short', 'long '.repeat(1_000))
  const edit = fc.oneof(
    fc.record({ do: fc.constant('insert' as const), id, note: large }),
    fc.record({ do: fc.constant('delete' as const), id }),
    fc.record({ do: fc.constant('rename' as const), id }),
    fc.record({ do: fc.constant('move' as const), id, to: id }),
    fc.record({ do: fc.constant('swap' as const), id, to: id }),
    fc.record({ do: fc.constant('shift' as const), by: fc.constantFrom(1, -1) }),
    fc.record({ do: fc.constant('mirror' as const) }),
  )
  const step = fc.oneof(
    { weight: 3, arbitrary: fc.array(edit, { minLength: 1, maxLength: 5 }).map((edits) => ({ edits })) },
    { weight: 2, arbitrary: fc.record({ stopAfter: fc.nat({ max: 3 }), loses: fc.boolean() }) },
  )
  const keys = fc.constantFrom(
    [deferrable, 'full'],
    ['primary key (id)', 'default'],
    ['primary key (id)', 'full'],
    ['unique (id)', 'using index people_id_key'],
  )

  test('and whatever else happens in a transaction leave the rows of the source at a destination', () =>
    fc.assert(
      fc.asyncProperty(keys, fc.array(step, { maxLength: 12 }), async ([key = '', identity = ''], steps) => {
        await begin(key, identity)
        await scene.query(`insert into crm.people select i, 'n' || i, repeat('y', 4000) from generate_series(1, 3) i`)
        const settings = { keyColumns: 'id', changesMax: 1_000 }
        const first = await scene.read(undefined, settings)
        await scene.write('people', first)
        let cursor: Json = lastCursor(first)
        const run = async (stopAfter: number, loses: boolean) => {
          const chunks = (await scene.read(cursor, settings)).slice(0, stopAfter)
          await scene.write('people', chunks)
          // Rows that were delivered without a confirmation come again.
          if (!loses) cursor = chunks.findLast((chunk) => chunk.cursor !== undefined)?.cursor ?? cursor
        }
        for (const [number, one] of steps.entries()) {
          if ('edits' in one) {
            const statements = one.edits.map((each, at) => statementOf(each, number * 10 + at))
            // A transaction that breaks the key in the end is rolled back.
            await scene.query(`begin; ${statements.join('; ')}; commit`).catch(() => scene.query('rollback'))
          } else await run(one.stopAfter, one.loses)
        }
        await run(Number.POSITIVE_INFINITY, false)
        const short = (row: { note: string | null }) => ({
          ...row,
          note: `${row.note?.length} ${row.note?.slice(0, 5)}`,
        })
        assert.deepEqual((await rowsIn('copies.people')).map(short), (await rowsIn('crm.people')).map(short))
      }),
      { numRuns: 30 },
    ))
})

type Edit = { do: string; id?: number; to?: number; by?: number; note?: string }

function statementOf({ do: what, id, to, by, note }: Edit, number: number): string {
  switch (what) {
    case 'insert':
      return `insert into crm.people select ${id}, 'i${number}', '${note}' where not exists (select from crm.people where id = ${id})`
    case 'delete':
      return `delete from crm.people where id = ${id}`
    case 'rename':
      return `update crm.people set name = 'r${number}' where id = ${id}`
    case 'move':
      return `update crm.people set id = ${to} where id = ${id}`
    case 'swap':
      return `update crm.people set id = ${id} + ${to} - id where id in (${id}, ${to})`
    case 'shift':
      return `update crm.people set id = id + ${by}`
    default:
      return 'update crm.people set id = 5 - id'
  }
}
