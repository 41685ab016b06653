import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import type { DriftMode } from '@penstock/wire'
import { startMariadb } from '../packages/connectors/test/mariadb.ts'
import { connectorBySlug } from './harness/fixtures.ts'
import { skipWithout } from './harness/programs.ts'
import { type Fixture, postgresql, startFixture } from './harness/transfers.ts'

/** Whatever changes in a source, a decision of a person in the console ends in a good transfer, without SQL by hand. */

let fixture: Fixture
const mariadb = await startMariadb()
const mysql = connectorBySlug('mysql')
before(async () => {
  fixture = await startFixture()
  await fixture.startWorker()
  if (!mariadb) return
  const { caller, accountId } = fixture
  await caller.addConnectors(accountId, mysql)
  const secretConfig = { ...mariadb.secrets } as Record<string, string | number>
  await caller.expect(caller.call('configureConnector', { accountId, id: mysql.id, body: { secretConfig } }))
})
after(async () => {
  await mariadb?.stop()
  await fixture.close()
})

const change = {
  rename: 'rename column b to b2',
  drop: 'drop column c',
  add: "add column d varchar(9) default 'new'",
  retype: 'e',
} as const
const combinations = [
  ['rename'],
  ['drop'],
  ['add'],
  ['retype'],
  ['rename', 'drop', 'add'],
  ['rename', 'drop', 'add', 'retype'],
] as const

const stores = [
  {
    name: 'PostgreSQL',
    connector: postgresql,
    skip: false as false | string,
    retype: 'alter column e type bigint',
    query: async (sql: string): Promise<Record<string, unknown>[]> => (await fixture.target.query(sql)).rows,
  },
  {
    name: 'MariaDB',
    connector: mysql,
    skip: mariadb ? (false as const) : skipWithout('mariadbd'),
    retype: 'modify column e bigint',
    query: async (sql: string) => (await mariadb?.query(sql)) ?? [],
  },
]
let numbers = 0

for (const store of stores) {
  describe(`changes of a table of ${store.name}`, { skip: store.skip }, () => {
    for (const changes of combinations) {
      for (const mode of ['ignore', 'stop', 'add'] satisfies DriftMode[]) {
        for (const then of mode === 'ignore' ? (['continue'] as const) : (['accept', 'continue'] as const)) {
          for (const mapped of [false, true]) {
            const name = `${changes.join(', ')} with ${mode}, ${then}, ${mapped ? 'a mapping' : 'all columns'}`
            test(name, async () => {
              const { caller, accountId } = fixture
              const table = `drift_${++numbers}`
              const { query } = store
              await query(`create table ${table} (id int primary key, b varchar(9), c varchar(9), e int)`)
              await query(`insert into ${table} values (1, 'b', 'c', 5)`)
              await query(`create table ${table}_copy (id int primary key, b varchar(9), c varchar(9), e bigint)`)
              const id = await fixture.connect(store.connector, { table }, store.connector, {
                table: `${table}_copy`,
                writeMode: 'Upsert',
                keyColumns: 'id',
                ...(mapped && { mapping: JSON.stringify({ id: 'id', b: 'b', c: 'c', e: 'e' }) }),
              })
              const set = (body: { drift?: DriftMode; accept?: boolean }) =>
                caller.expect(caller.call('setDrift', { accountId, id, body }))
              const move = async () => fixture.ended(id, (await fixture.start(id)).id)
              await set({ drift: mode })
              assert.equal((await move()).status, 'succeeded')
              for (const one of changes)
                await query(`alter table ${table} ${one === 'retype' ? store.retype : change[one]}`)
              await query(`insert into ${table} (id, e) values (2, 6)`)
              const next = await move()
              if (next.error?.code === 'columns_changed') {
                await set(then === 'accept' ? { accept: true } : { drift: 'ignore' })
                const followed = await move()
                assert.equal(followed.status, 'succeeded', followed.error?.message)
              } else assert.equal(next.status, 'succeeded', next.error?.message)
              const last = await move()
              assert.equal(last.status, 'succeeded', last.error?.message)
              assert.deepEqual(last.columnChanges, [])
              const { status } = await caller.expect(caller.call('getConnection', { accountId, id }))
              assert.equal(status, 'active')
              const [copied = {}] = await query(`select * from ${table}_copy where id = 2`)
              assert.equal(Number(copied.e), 6)
              const isChanged = (one: (typeof changes)[number]) => (changes as readonly string[]).includes(one)
              // Without a mapping, all columns are wanted, so a table gets them unless a person decides otherwise.
              const follows = (mode === 'add' && then === 'accept') || (!mapped && then === 'continue')
              if (follows && isChanged('add')) assert.equal(copied.d, 'new', 'the new column arrived')
              if (follows && isChanged('rename') && !mapped) assert.ok('b2' in copied)
            })
          }
        }
      }
    }
  })
}
