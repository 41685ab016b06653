import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import type { Chunk, Json, Values } from '@penstock/connector'
import pg from 'pg'
import { startLogicalPostgres } from '../../../../../test/harness/logical-postgres.ts'
import fc from '../../../../../test/harness/property.ts'
import { seed } from '../../../../../test/harness/seed.ts'
import { madeTypes, valueTexts } from '../../../test/postgresql-values.ts'
import { readAll, rowsOf } from '../../../test/tables.ts'
import { postgresql } from '../postgresql.ts'

/** A value is the same whether it comes from the log or with a copy of the table; PENSTOCK_TEST_SEED tries other values. */

const server = await startLogicalPostgres({})
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
const pool = new pg.Pool({ connectionString: server.url, max: 2 })
pool.on('error', () => {})
after(() => pool.end())
const query = (text: string, values?: unknown[]) => pool.query(text, values)

const types = Object.entries(valueTexts)
const names = types.map((_, at) => `c${at}`)
const rowsEach = 60
/** So long that PostgreSQL stores it outside of the row, and omits it from the log of an update that does not change it. */
const long = Array.from({ length: 4_000 }, (_, i) => i.toString(36)).join('')

let slots = 0
const reader = (more: Values = {}) => {
  slots += 1
  const settings = { schema: 'crm', table: 'everything', syncMode: 'Changes', publication: 'penstock', deletes: 'Skip' }
  return (cursor?: Json): Promise<Chunk[]> =>
    readAll(postgresql, {
      secrets,
      settings: { ...settings, slot: `values_${slots}`, ...more },
      ...(cursor === undefined ? {} : { cursor }),
    })
}

before(async () => {
  await query(`create schema crm; ${madeTypes}`)
  const columns = types.map(([type], at) => `c${at} ${type}`)
  await query(`
    create table crm.everything (id int primary key, ${columns.join(', ')}, long text);
    alter table crm.everything alter long set storage external;
    create publication penstock for table crm.everything`)
})

/** Adds rows whose columns have values of every type, or null. */
async function addRows() {
  const rows = fc.sample(fc.tuple(...types.map(([, texts]) => fc.option(texts, { freq: 8 }))), {
    numRuns: rowsEach,
    seed,
  })
  const places = names.map((_, at) => `$${at + 2}`)
  for (const [id, row] of rows.entries()) {
    await query(
      `insert into crm.everything (id, ${names.join(', ')}, long) values ($1, ${places.join(', ')}, '${long}')`,
      [id, ...row],
    )
  }
}

/** Compares the last row of each key in the log with a copy of the table. */
async function compare(logged: readonly Chunk[]) {
  const copied = await reader()()
  assert.deepEqual(logged[0]?.columns, copied[0]?.columns)
  assert.deepEqual(logged[0]?.types, copied[0]?.types)
  const last = new Map(rowsOf(logged).map((row) => [row[0], row]))
  const expected = rowsOf(copied)
  assert.equal(last.size, expected.length)
  for (const row of expected) {
    const found = last.get(row[0] ?? null) ?? []
    for (const [at, cell] of row.entries()) {
      assert.deepEqual(found[at], cell, `${types[at - 1]?.[0] ?? copied[0]?.columns[at]} of row ${row[0]}`)
    }
  }
}

describe(`values in the log of PostgreSQL (PENSTOCK_TEST_SEED=${seed})`, () => {
  for (const [identity, says] of [
    ['default', 'keys'],
    ['full', 'whole rows'],
  ] as const) {
    test(`equal a copy for every type, after inserts and updates, if the log has ${says} of changed rows`, async () => {
      await query(`truncate crm.everything; alter table crm.everything replica identity ${identity}`)
      const read = reader()
      const start = (await read()).at(-1)?.cursor
      assert.ok(start !== undefined)
      await addRows()
      const inserted = await read(start)
      assert.equal(rowsOf(inserted).length, rowsEach)
      await compare(inserted)
      const cursor = inserted.at(-1)?.cursor
      assert.ok(cursor !== undefined)
      // The values of each type move to the next row. The long text stays, so the log does not contain it.
      await query(`
        update crm.everything e set ${names.map((name) => `${name} = o.${name}`).join(', ')}
        from crm.everything o where o.id = (e.id + 1) % ${rowsEach}`)
      const updated = await read(cursor)
      assert.equal(rowsOf(updated).length, rowsEach)
      await compare(updated)
    })
  }
})
