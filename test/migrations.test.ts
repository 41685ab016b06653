import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { migrate } from '../packages/server/src/db/migrate.ts'
import { migrationsFolder, readJournal } from '../packages/server/src/db/migrations.ts'
import { createEmptyDatabase } from './harness/database.ts'
import { firstMigrations, migrateWithDrizzle } from './harness/migrations.ts'
import { withSession } from './harness/session.ts'

/** How the schema is brought up to date: as Drizzle's own migrator does, which earlier versions ran, and without it. */

async function prepare(t: TestContext): Promise<string> {
  const database = await createEmptyDatabase()
  t.after(database.drop)
  return database.url
}

/** What Drizzle keeps its records in, row by row. */
const recorded = (url: string) =>
  withSession(url, async (session) => {
    const { rows } = await session.query('select id, hash, created_at from drizzle.__drizzle_migrations order by id')
    return rows
  })

/** Every object of the schemas, in words. */
const objects = (url: string) =>
  withSession(url, async (session) => {
    const { rows } = await session.query<{ object: string }>(`
      select table_schema || '.' || table_name || '.' || column_name || ' ' || data_type || ' ' || is_nullable
        || ' ' || coalesce(column_default, '') || ' ' || ordinal_position as object
      from information_schema.columns where table_schema in ('public', 'drizzle')
      union all select indexdef from pg_indexes where schemaname in ('public', 'drizzle')
      union all select conrelid::regclass || ' ' || conname || ' ' || pg_get_constraintdef(oid)
      from pg_constraint where connamespace::regnamespace::text in ('public', 'drizzle')
      union all select pg_get_triggerdef(oid) from pg_trigger
      where not tgisinternal and tgrelid in (select oid from pg_class where relnamespace::regnamespace::text = 'public')
      union all select pg_get_functiondef(p.oid) from pg_proc p
      where pronamespace::regnamespace::text = 'public' and not exists (select from pg_depend where objid = p.oid and deptype = 'e')
      order by 1`)
    return rows.map(({ object }) => object)
  })

test('makes the tables and the records that Drizzle makes', async (t) => {
  const [ours, theirs] = [await prepare(t), await prepare(t)]
  await migrate(ours)
  await migrateWithDrizzle(theirs, migrationsFolder)
  assert.deepEqual(await recorded(ours), await recorded(theirs))
  assert.equal((await recorded(ours)).length, (await readJournal()).length)
  assert((await objects(ours)).length > 300)
  assert.deepEqual(await objects(ours), await objects(theirs))
  await migrateWithDrizzle(ours, migrationsFolder)
  assert.deepEqual(await recorded(ours), await recorded(theirs), 'Drizzle finds nothing left to do')
})

test('continues where Drizzle ended, at any migration', async (t) => {
  const complete = await prepare(t)
  await migrate(complete)
  const { length } = await readJournal()
  for (let count = 1; count <= length; count++) {
    const url = await prepare(t)
    await migrateWithDrizzle(url, await firstMigrations(t, count))
    assert.equal((await recorded(url)).length, count)
    await migrate(url)
    assert.deepEqual(await recorded(url), await recorded(complete))
    assert.deepEqual(await objects(url), await objects(complete))
  }
})

test('applies all that is missing or nothing of it', async (t) => {
  const url = await prepare(t)
  // The last migration creates a table of this name.
  await withSession(url, (session) => session.query('create table connection_events (in_the_way integer)'))
  await assert.rejects(migrate(url), { code: '42P07' })
  const left = await withSession(url, (session) =>
    session.query(`select tablename from pg_tables where schemaname in ('public', 'drizzle')`),
  )
  assert.deepEqual(left.rows, [{ tablename: 'connection_events' }])
  await withSession(url, (session) => session.query('drop table connection_events'))
  await migrate(url)
  assert.equal((await recorded(url)).length, (await readJournal()).length)
})

test('is done once by processes that start together', async (t) => {
  const url = await prepare(t)
  await Promise.all(Array.from({ length: 5 }, () => migrate(url)))
  assert.equal((await recorded(url)).length, (await readJournal()).length)
})

test('needs no right to create anything where the schema is current', async (t) => {
  const database = await createEmptyDatabase()
  const url = new URL(database.url)
  await migrate(url.href)
  const role = `reader_${url.pathname.slice(-12)}`
  await withSession(url.href, (session) =>
    session.query(`create role ${role} login password 'reader';
      grant usage on schema public, drizzle, graphile_worker to ${role};
      grant select on all tables in schema public, drizzle, graphile_worker to ${role}`),
  )
  t.after(async () => {
    await withSession(url.href, (session) => session.query(`drop owned by ${role}; drop role ${role}`))
    await database.drop()
  })
  const asReader = new URL(url)
  asReader.username = role
  asReader.password = 'reader'
  await migrate(asReader.href)
})
