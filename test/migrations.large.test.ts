import assert from 'node:assert/strict'
import { cp, mkdtemp, readdir, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { applyMigrations, MigrationError, migrate } from '../packages/server/src/db/migrate.ts'
import { listMigrations, readMigration } from '../packages/server/src/db/migrations.ts'
import { migrationsFolder } from '../packages/server/src/places.ts'
import { createEmptyDatabase } from './harness/database.ts'
import { withSession } from './harness/session.ts'

/** How the schema is brought up to date. */

async function prepare(t: TestContext): Promise<string> {
  const database = await createEmptyDatabase()
  t.after(database.drop)
  return database.url
}

const query = (url: string, text: string) =>
  withSession(url, async (session) => (await session.query<Record<string, unknown>>(text)).rows)
const recorded = (url: string) => query(url, 'select name, digest from penstock_migrations order by name')
const tables = (url: string) => query(url, `select tablename as name from pg_tables where schemaname = 'public'`)

test('are files with numbers that follow each other, recorded in their order', async (t) => {
  const names = await listMigrations()
  assert.deepEqual(
    (await readdir(migrationsFolder)).sort(),
    names.map((name) => `${name}.sql`),
  )
  assert.deepEqual(
    names.map((name) => Number(name.slice(0, 4))),
    names.map((_, i) => i + 1),
  )
  const url = await prepare(t)
  await migrate(url)
  const digests = await Promise.all(names.map((name) => readMigration(name)))
  assert.deepEqual(
    await recorded(url),
    digests.map(({ name, digest }) => ({ name, digest })),
  )
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
  const after = await recorded(url)
  assert.deepEqual(after.slice(0, before.length), before)
  assert.deepEqual(
    after.slice(before.length).map(({ name }) => name),
    ['9998_add_table', '9999_fill_it'],
  )
  // An older process continues to work on this database, and does not change it.
  await migrate(url)
  assert.deepEqual(await recorded(url), after)
})

test('are applied together or not at all', async (t) => {
  const url = await prepare(t)
  await query(url, 'create table connection_events (in_the_way integer)')
  await assert.rejects(migrate(url), { code: '42P07' })
  assert.deepEqual(await tables(url), [{ name: 'connection_events' }])
  await query(url, 'drop table connection_events')
  await migrate(url)
  assert.equal((await recorded(url)).length, (await listMigrations()).length)
})

test('refuse a database that another build migrated, or that has tables of none, and change nothing', async (t) => {
  const [other, earlier] = [await prepare(t), await prepare(t)]
  const refuses = async (url: string, says: RegExp) => {
    const before = await tables(url)
    await assert.rejects(migrate(url), (error) => error instanceof MigrationError && says.test(error.message))
    assert.deepEqual(await tables(url), before)
  }
  await migrate(other)
  await query(other, `update penstock_migrations set digest = 'another'`)
  await refuses(
    other,
    /Another build .* 0001_schema .*Use that build, or start with an empty database: set DATABASE_URL/,
  )
  await query(earlier, 'create table organizations (id text)')
  await refuses(earlier, /a build before 0\.1\.0, .*Start with an empty database: set DATABASE_URL/)
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
      grant usage on schema public to ${role};
      grant select on all tables in schema public to ${role}`),
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
