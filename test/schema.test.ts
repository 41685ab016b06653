import assert from 'node:assert/strict'
import { readFile } from 'node:fs/promises'
import { type TestContext, test } from 'node:test'
import type pg from 'pg'
import { openSession } from '../packages/server/src/db/session.ts'
import { describeSchema, schemaFile } from '../scripts/schema.ts'
import { createEmptyDatabase, createTestDatabase, type TestDatabase } from './harness/database.ts'

/** packages/server/schema.sql is the database, in one file to read. */

async function on(t: TestContext, create: () => Promise<TestDatabase>): Promise<string> {
  const { url, drop } = await create()
  t.after(drop)
  return url
}

/** Runs work in a session with the settings of Penstock, which determine how the server writes an interval. */
async function inSession<T>(url: string, work: (session: pg.Client) => Promise<T>): Promise<T> {
  const session = await openSession(url, 'test')
  try {
    return await work(session)
  } finally {
    await session.end()
  }
}

test('schema.sql is the schema of a migrated database: where it is not, run npm run schema', async (t) => {
  const file = await readFile(schemaFile, 'utf8')
  const described = await inSession(await on(t, createTestDatabase), (session) => describeSchema(session, file))
  assert.equal(file, described)
})

test('schema.sql makes that schema in an empty database', async (t) => {
  const file = await readFile(schemaFile, 'utf8')
  const described = await inSession(await on(t, createEmptyDatabase), async (session) => {
    await session.query(file)
    return describeSchema(session, file)
  })
  assert.equal(file, described)
})

test('what changed is described again, and comments stay where they are', async (t) => {
  const file = await readFile(schemaFile, 'utf8')
  const described = await inSession(await on(t, createTestDatabase), async (session) => {
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
