import type pg from 'pg'
import { currentUrl, type DatabaseUrl } from './database.ts'
import { listMigrations, migrationsFolder, readMigration } from './migrations.ts'
import { openSession } from './session.ts'

/** Any number of processes may start at once; one migrates, the others wait for it. The number is arbitrary and ours. */
const lockId = 7_366_831

/**
 * Brings the schema up to date, the job queue's as well. Does nothing where it is current already.
 * @param url connection string of a role that may create tables and, the first time, the extensions pg_trgm and btree_gin
 */
export async function migrate(url: DatabaseUrl): Promise<void> {
  const session = await openSession(url, 'migrate')
  try {
    await holdMigrations(session)
    await session.query('begin')
    await applyMigrations(session)
    await session.query('commit')
    if (!(await isQueueCurrent(session))) {
      const { runMigrations } = await import('graphile-worker')
      await runMigrations({ connectionString: currentUrl(url) })
    }
  } finally {
    await session.end()
  }
}

/** The newest migration that this version of graphile-worker brings. */
export const newestQueueMigration = 20

/** Asked first, because the queue takes a command a fifth of a second to load, and most have nothing to migrate. */
async function isQueueCurrent(session: pg.Client): Promise<boolean> {
  const { rows } = await session.query(`select to_regclass('graphile_worker.migrations') is not null as recorded`)
  if (!rows[0]?.recorded) return false
  const found = await session.query<{ newest: number | null }>(
    'select max(id) as newest from graphile_worker.migrations',
  )
  return found.rows[0]?.newest === newestQueueMigration
}

/** Waits until no other process migrates, and keeps others waiting until the session ends. */
export async function holdMigrations(session: pg.Client): Promise<void> {
  await session.query('select pg_advisory_lock($1)', [lockId])
}

/**
 * Applies the migrations that are newer than the newest one that the database records, in the transaction of the session.
 * The record is kept in the table and in the form of Drizzle's own migrator, which applied the migrations of earlier
 * versions.
 * @param until the `when` of the newest migration to apply; all of them unless given
 * @param folder directory of the migrations
 */
export async function applyMigrations(
  session: pg.Client,
  until = Number.POSITIVE_INFINITY,
  folder = migrationsFolder,
): Promise<void> {
  const newest = (await readApplied(session)).at(-1)?.when ?? 0
  const pending = (await listMigrations(folder)).filter(({ when }) => when > newest && when <= until)
  if (pending.length === 0) return
  await session.query(createRecord)
  for (const entry of pending) {
    const { text, hash } = await readMigration(entry)
    await session.query(text)
    await session.query('insert into drizzle.__drizzle_migrations (hash, created_at) values ($1, $2)', [
      hash,
      entry.when,
    ])
  }
}

const createRecord = `
  create schema if not exists drizzle;
  create table if not exists drizzle.__drizzle_migrations (id serial primary key, hash text not null, created_at bigint)
`

/** The migrations that the database records, oldest first; none where it has no record. */
export async function readApplied(session: pg.Client): Promise<{ hash: string; when: number }[]> {
  const { rows } = await session.query(`select to_regclass('drizzle.__drizzle_migrations') is not null as recorded`)
  if (!rows[0]?.recorded) return []
  const found = await session.query<{ hash: string; when: number }>(
    'select hash, created_at::float8 as when from drizzle.__drizzle_migrations order by created_at, id',
  )
  return found.rows
}
