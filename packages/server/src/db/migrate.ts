import { runMigrations as applyQueueMigrations } from 'graphile-worker'
import pg from 'pg'
import { currentUrl, type DatabaseUrl } from './database.ts'
import { readJournal, readMigration } from './migrations.ts'

/** Any number of processes may start at once; one migrates, the others wait for it. The number is arbitrary and ours. */
const lockId = 7_366_831

/**
 * Brings the schema up to date, the job queue's as well. Does nothing where it is current already.
 * @param url connection string of a role that may create tables and, the first time, the extensions pg_trgm and btree_gin
 */
export async function migrate(url: DatabaseUrl): Promise<void> {
  const client = new pg.Client({ connectionString: currentUrl(url), application_name: 'penstock migrate' })
  // A connection that breaks is reported by the statement that fails; without a listener the event would end the process.
  client.on('error', () => {})
  await client.connect()
  try {
    await client.query('select pg_advisory_lock($1)', [lockId])
    await applyMigrations(client)
    await applyQueueMigrations({ connectionString: currentUrl(url) })
  } finally {
    await client.end()
  }
}

/**
 * Applies, in one transaction, the migrations that are newer than the newest one that the database records. The record
 * is kept in the table and in the form of Drizzle's own migrator, which applied the migrations of earlier versions.
 */
async function applyMigrations(client: pg.Client): Promise<void> {
  const newest = await newestApplied(client)
  const pending = (await readJournal()).filter(({ when }) => when > newest)
  if (pending.length === 0) return
  await client.query('begin')
  try {
    await client.query(createRecord)
    for (const entry of pending) {
      const { statements, hash, when } = await readMigration(entry)
      for (const text of statements) await client.query(text)
      await client.query('insert into drizzle.__drizzle_migrations (hash, created_at) values ($1, $2)', [hash, when])
    }
    await client.query('commit')
  } catch (error) {
    await client.query('rollback').catch(() => {})
    throw error
  }
}

const createRecord = `
  create schema if not exists drizzle;
  create table if not exists drizzle.__drizzle_migrations (id serial primary key, hash text not null, created_at bigint)
`

/** The time of the newest migration that the database records; 0 where it records none. */
async function newestApplied(client: pg.Client): Promise<number> {
  const { rows } = await client.query(`select to_regclass('drizzle.__drizzle_migrations') is not null as recorded`)
  if (!rows[0]?.recorded) return 0
  const found = await client.query('select max(created_at)::float8 as newest from drizzle.__drizzle_migrations')
  return found.rows[0]?.newest ?? 0
}
