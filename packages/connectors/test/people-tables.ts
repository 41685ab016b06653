import assert from 'node:assert/strict'
import { beforeEach, test } from 'node:test'
import type { Batch, Connector, Delivery, Row, Values } from '@penstock/connector'
import { type TestContextOptions, testContext } from '@penstock/connector/acceptance'
import { assertRejected } from './assert-rejected.ts'
import { batchOf, connectorErrorOf, deliver as deliverTo } from './tables.ts'
import type { EngineResult } from './warehouse-engine.ts'

/** Tables of people that the tests of all warehouses read and write. */

/** The columns that destinations get, and as many rows for them. */
export const peopleColumns = ['id', 'Name', 'member', 'paid', 'day', 'changed']
/** @param special more of what an escape could break */
export const peopleRows = (count: number, special = ''): Row[] =>
  Array.from({ length: count }, (_, index): Row => {
    const time = `2026-01-31T12:00:00.${String(index).padStart(6, '0')}Z`
    const name = index % 3 ? `Zoë '["${index}"]\\?${special};\n` : null
    return [index, name, index % 2 === 0, `${index}.25`, '2026-01-31', time]
  })

/** Rows that no table of people takes, because of an ID, an amount, a day, and a missing ID. */
export const badPeople = [
  { row: ['many', 'a', true, '1', '2026-01-31', null] as Row, reason: /not a number/, field: 'id' },
  { row: [1, 'a', true, '1.005', '2026-01-31', null] as Row, reason: /more than 2 decimal places/, field: 'paid' },
  { row: [2, 'a', true, '1', 'some canary day', null] as Row, reason: /not a valid date/, field: 'day' },
  { row: [null, 'a', true, '1', '2026-01-31', null] as Row, reason: /column that needs one/, field: 'id' },
] as const

/** The columns that sources give. */
export const readColumns = ['id', 'name', 'member', 'score', 'paid', 'day', 'changed']
/** The people that sources read. @param zone behind the time of the last column */
export const readPeople = (zone = ''): Row[] =>
  Array.from({ length: 12_000 }, (_, index): Row => {
    const id = index + 1
    const name = id % 3 === 0 ? null : `Zoë ["${id}"]\\\n`
    const changed = `2026-01-31T12:00:00.${String(id).padStart(6, '0').replace(/0+$/, '')}${zone}`
    return [id, name, id % 2 === 0, id / 4, (id / 4).toFixed(2), '2026-01-31', changed]
  })

/** Creates the table with these people in DuckDB, in no order. @param write how it has a name */
export const createPeople = (table = 'crm.people', write = (name: string) => name): string => `
  create table ${table} as
  select i as ${write('id')}, case when i % 3 > 0 then 'Zoë ["' || i || '"]\\' || chr(10) end as ${write('name')},
         i % 2 = 0 as ${write('member')}, i / 4 as ${write('score')}, (i / 4)::decimal(12, 2) as ${write('paid')},
         date '2026-01-31' as ${write('day')},
         timestamp '2026-01-31 12:00:00' + interval (i) microsecond as ${write('changed')}
    from range(1, 12001) as numbers(i) order by hash(i)`

/** A warehouse with a table of people, `crm.people`, which DuckDB has. */
export type PeopleTable = {
  readonly connector: Connector
  readonly run: (statement: string) => Promise<unknown>
  readonly routes: Readonly<Record<string, string>>
  readonly secrets: Values
  readonly settings: Values
}

/** The work of tests on a table of people. */
export type PeopleTests = {
  /** Makes the table again, without rows. */
  reset(): Promise<void>
  readBack(): Promise<Row[]>
  optionsOf(own?: Values, transferId?: string): TestContextOptions
  deliver(names: readonly string[], some: readonly Row[], own?: Values, number?: number): Promise<Delivery>
  /** The IDs and names in the table. */
  inTable(table?: string): Promise<EngineResult['rows']>
  /** The code with which a delivery of these columns fails. */
  codeOf(names: readonly string[], own?: Values): Promise<string>
}

/** Opens the table for the tests of a warehouse that has it in DuckDB. */
export function peopleTable({ connector, run: execute, routes, secrets, settings }: PeopleTable): PeopleTests {
  const run = execute as (statement: string) => Promise<EngineResult>
  const optionsOf = (own: Values = {}, transferId = 'transfer-1') => ({
    secrets,
    routes,
    settings: { ...settings, ...own },
    transferId,
  })
  const deliver = (names: readonly string[], some: readonly Row[], own: Values = {}, number = 1) =>
    deliverTo(connector, optionsOf(own), batchOf(names, some, number))
  return {
    async reset() {
      await run('drop table if exists crm.people')
      await run('drop table if exists crm.fresh')
      await run(
        'create table crm.people (changed timestamp, id bigint not null, name varchar, member boolean, paid decimal(12, 2), day date)',
      )
    },
    async readBack() {
      const found = await run(
        `select id, name, member, paid, day, strftime(changed, '%Y-%m-%dT%H:%M:%S.%fZ') from crm.people`,
      )
      return found.rows.map(([id, name, member, ...rest]) => [Number(id), name ?? null, member === 'true', ...rest])
    },
    optionsOf,
    deliver,
    inTable: async (table = 'people') => (await run(`select id, name from crm.${table} order by id`)).rows,
    codeOf: async (names, own = {}) => (await connectorErrorOf(deliver(names, [names.map(() => 1)], own, 17)))[1],
  }
}

/**
 * Registers the tests that hold for each warehouse with a table of people. Each begins with an empty one.
 * @param reason of the rejection of a row that only the warehouse refuses
 */
export function testPeopleTable(warehouse: PeopleTable, people: PeopleTests, reason: string): void {
  const { connector, run } = warehouse
  const { optionsOf, deliver, inTable } = people
  const open = async (options: TestContextOptions) => {
    const writer = await connector.destination?.deliver?.open(testContext(options))
    assert.ok(writer)
    return writer
  }

  beforeEach(() => people.reset())

  test('creates a table that is missing, if it may, with columns of text', async () => {
    const missing = await connectorErrorOf(deliver(['id'], [[1]], { table: 'fresh' }))
    assert.deepEqual(missing, ['reconfigure', 'table_not_found'])
    await deliver(['id', 'name'], [[1, 'a']], { table: 'fresh', createTable: true }, 10)
    await deliver(['ID', 'Name'], [['x', '']], { table: 'fresh', createTable: true }, 11)
    assert.deepEqual(await inTable('fresh'), [
      ['1', 'a'],
      ['x', ''],
    ])
  })

  test('finds the rows that the table refuses by halves, once', async () => {
    const writer = await open({ ...optionsOf(), columns: ['id', 'name'] })
    // The table changes after the writer has opened it.
    await run('alter table crm.people alter column name set not null')
    const some: Row[] = [
      [1, 'a'],
      [2, null],
      [3, 'c'],
    ]
    for (let time = 0; time < 2; time++) {
      const { rejected } = await writer.deliver(batchOf(['id', 'name'], some, 13))
      assert.deepEqual(rejected, [{ index: 1, reason }])
    }
    assert.deepEqual(await inTable(), [
      ['1', 'a'],
      ['3', 'c'],
    ])
  })

  test('replaces what was there once in a transfer, in a crash before the first confirmation too', async () => {
    await run('insert into crm.people (id) values (7)')
    const options = { ...optionsOf({ writeMode: 'Replace' }, 'transfer-2'), columns: ['id'] }
    const [first, second]: Batch[] = [batchOf(['id'], [[1]], 14), batchOf(['id'], [[2]], 15)]
    assert.ok(first && second)
    await (await open(options)).deliver(first)
    const again = await open({ ...options, attempt: 2 })
    const { deliveryState } = await again.deliver(first)
    await again.deliver(second)
    const last = await open({ ...options, attempt: 3, deliveryStates: [deliveryState ?? null] })
    await last.deliver(second)
    await last.finish?.()
    assert.deepEqual(await inTable(), [
      ['1', null],
      ['2', null],
    ])
    await (await open({ ...options, transferId: 'transfer-3' })).finish?.()
    assert.deepEqual(await inTable(), [])
  })
}

/** The test of a warehouse that updates rows by their key. */
export function testPeopleByKey({ run }: PeopleTable, { deliver, inTable }: PeopleTests): void {
  test('updates rows by their key, the last of a batch', async () => {
    await run(`insert into crm.people (id, name, paid) values (1, 'old', 5)`)
    const some: Row[] = [
      [2, 'b'],
      [1, 'first'],
      [1, 'last'],
      [null, 'keyless'],
    ]
    for (let time = 0; time < 2; time++) {
      const { rejected } = await deliver(['id', 'name'], some, { writeMode: 'Upsert', keyColumns: 'ID' }, 16)
      assertRejected(rejected, [[3, 'id']])
    }
    assert.deepEqual(await inTable(), [
      ['1', 'last'],
      ['2', 'b'],
    ])
  })
}
