import assert from 'node:assert/strict'
import { cp, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { applyMigrations, migrate, newestQueueMigration } from '../packages/server/src/db/migrate.ts'
import { listMigrations, migrationsFolder, readMigration } from '../packages/server/src/db/migrations.ts'
import { createEmptyDatabase } from './harness/database.ts'
import { byDrizzle, migrateAsDrizzle } from './harness/migrations.ts'
import { withSession } from './harness/session.ts'

/** How the schema is brought up to date, also where earlier versions ran Drizzle's own migrator. */

async function prepare(t: TestContext): Promise<string> {
  const database = await createEmptyDatabase()
  t.after(database.drop)
  return database.url
}

/** What Drizzle keeps its records in, row by row. */
const recorded = (url: string) =>
  withSession(url, async (session) => {
    const { rows } = await session.query<{ id: number; hash: string; created_at: string }>(
      'select id, hash, created_at from drizzle.__drizzle_migrations order by id',
    )
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

test('are files with numbers that follow each other, recorded in their order', async () => {
  const migrations = await listMigrations()
  const files = (await readdir(migrationsFolder)).filter((file) => file !== 'meta')
  assert.deepEqual(
    files.sort(),
    migrations.map(({ name }) => `${name}.sql`),
  )
  assert.deepEqual(
    migrations.map(({ name }) => Number(name.slice(0, 4))),
    migrations.map((_, i) => i),
  )
  const times = migrations.map(({ when }) => when)
  assert.deepEqual(times, [...new Set(times)].sort())
})

test('that were released are what they were', async () => {
  const released = (await listMigrations()).slice(0, byDrizzle.length)
  assert.deepEqual(
    await Promise.all(released.map(async (entry) => [entry.name, entry.when, (await readMigration(entry)).hash])),
    byDrizzle,
  )
  const journal = JSON.parse(await readFile(join(migrationsFolder, 'meta', '_journal.json'), 'utf8'))
  assert.equal(journal.entries.length, byDrizzle.length, 'a later migration has no entry in the journal')
})

test('that Drizzle applied make the same tables and records', async (t) => {
  const [ours, theirs] = [await prepare(t), await prepare(t)]
  await withSession(ours, (session) => applyMigrations(session, byDrizzle.at(-1)?.[1]))
  await migrateAsDrizzle(theirs)
  assert.equal((await recorded(ours)).length, byDrizzle.length)
  assert.deepEqual(await recorded(ours), await recorded(theirs))
  assert((await objects(ours)).length > 300)
  assert.deepEqual(await objects(ours), await objects(theirs))
})

test('continue where Drizzle ended, at any of them', async (t) => {
  const complete = await prepare(t)
  await migrate(complete)
  for (let count = 1; count <= byDrizzle.length; count++) {
    const url = await prepare(t)
    await migrateAsDrizzle(url, count)
    assert.equal((await recorded(url)).length, count)
    await migrate(url)
    assert.deepEqual(await recorded(url), await recorded(complete))
    assert.deepEqual(await objects(url), await objects(complete))
  }
})

test('are added as plain files', async (t) => {
  const folder = await mkdtemp(join(tmpdir(), 'penstock-migrations-'))
  t.after(() => rm(folder, { recursive: true }))
  await cp(migrationsFolder, folder, { recursive: true })
  await writeFile(join(folder, '9998_add_table.sql'), 'create table added (id text);\n-- A remark; only that.\n')
  await writeFile(
    join(folder, '9999_fill_it.sql'),
    "insert into added values ('one');\ninsert into added values ('two');",
  )
  const url = await prepare(t)
  await migrate(url)
  const before = await recorded(url)
  await withSession(url, async (session) => {
    await applyMigrations(session, undefined, folder)
    await applyMigrations(session, undefined, folder)
    assert.equal((await session.query('select from added')).rowCount, 2)
  })
  const last = Number(before.at(-1)?.created_at)
  assert.deepEqual(
    (await recorded(url)).slice(before.length).map(({ created_at }) => Number(created_at)),
    [last + 1, last + 2],
  )
})

test('are applied together or not at all', async (t) => {
  const url = await prepare(t)
  // A later migration creates a table of this name.
  await withSession(url, (session) => session.query('create table connection_events (in_the_way integer)'))
  await assert.rejects(migrate(url), { code: '42P07' })
  const left = await withSession(url, (session) =>
    session.query(`select tablename from pg_tables where schemaname in ('public', 'drizzle')`),
  )
  assert.deepEqual(left.rows, [{ tablename: 'connection_events' }])
  await withSession(url, (session) => session.query('drop table connection_events'))
  await migrate(url)
  assert.equal((await recorded(url)).length, (await listMigrations()).length)
})

test('are applied once by processes that start together', async (t) => {
  const url = await prepare(t)
  await Promise.all(Array.from({ length: 5 }, () => migrate(url)))
  assert.equal((await recorded(url)).length, (await listMigrations()).length)
})

test('need no right to create anything where the schema is current', async (t) => {
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

test('knows the newest migration of the job queue, which it leaves alone where it is current', async (t) => {
  const url = await prepare(t)
  await migrate(url)
  const newest = () =>
    withSession(url, async (session) => {
      const { rows } = await session.query<{ id: number; ts: Date }>(
        'select id, ts from graphile_worker.migrations order by id desc limit 1',
      )
      return rows[0]
    })
  const applied = await newest()
  assert.equal(applied?.id, newestQueueMigration)
  await migrate(url)
  assert.deepEqual(await newest(), applied)
  await withSession(url, (session) =>
    session.query('delete from graphile_worker.migrations where id = $1', [newestQueueMigration]),
  )
  await migrate(url)
  assert.equal((await newest())?.id, newestQueueMigration)
})
