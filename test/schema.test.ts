import assert from 'node:assert/strict'
import { readFile } from 'node:fs/promises'
import { type TestContext, test } from 'node:test'
import { describeSchema, schemaFile } from '../scripts/schema.ts'
import { createEmptyDatabase, createTestDatabase, type TestDatabase } from './harness/database.ts'
import { withSession } from './harness/session.ts'

/** packages/server/schema.sql is the database, in one file to read. */

async function on(t: TestContext, create: () => Promise<TestDatabase>): Promise<string> {
  const { url, drop } = await create()
  t.after(drop)
  return url
}

test('schema.sql is the schema of a migrated database: where it is not, run npm run schema', async (t) => {
  const file = await readFile(schemaFile, 'utf8')
  const described = await withSession(await on(t, createTestDatabase), (session) => describeSchema(session, file))
  assert.equal(file, described)
})

test('schema.sql makes that schema in an empty database', async (t) => {
  const file = await readFile(schemaFile, 'utf8')
  const described = await withSession(await on(t, createEmptyDatabase), async (session) => {
    await session.query(file)
    return describeSchema(session, file)
  })
  assert.equal(file, described)
})

test('what changed is described again, and comments stay where they are', async (t) => {
  const file = await readFile(schemaFile, 'utf8')
  const described = await withSession(await on(t, createTestDatabase), async (session) => {
    await session.query(`
      alter table probes add column note text default 'A''s; --' not null;
      drop table schedule_pauses;
      create table added_last (id text primary key);
      create index probes_note on probes (note) where note in ('A', 'B')`)
    return describeSchema(session, file)
  })
  const without = (text: string, other: string) => {
    const others = new Set(other.split('\n'))
    return text.split('\n').filter((line) => !others.has(line))
  }
  assert.deepEqual(without(described, file), [
    "  note text default 'A''s; --' not null,",
    "create index probes_note on probes (note) where note in ('A', 'B');",
    'create table added_last (',
    '  constraint added_last_pkey primary key (id)',
  ])
  assert.deepEqual(
    without(file, described).filter((line) => line.trim().startsWith('--')),
    [
      '-- While there is a row, schedules start nothing, in any process.',
      '  -- Who paused them: `restore` or `operator`.',
    ],
  )
})
