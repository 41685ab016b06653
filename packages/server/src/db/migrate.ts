import { fileURLToPath } from 'node:url'
import { drizzle } from 'drizzle-orm/node-postgres'
import { migrate as applyMigrations } from 'drizzle-orm/node-postgres/migrator'
import { runMigrations as applyQueueMigrations } from 'graphile-worker'
import pg from 'pg'

/** Where the migrations are; drizzle-kit writes them there. */
export const migrationsFolder = fileURLToPath(new URL('../../migrations', import.meta.url))

/** Any number of processes may start at once; one migrates, the others wait for it. The number is arbitrary and ours. */
const lockId = 7_366_831

/**
 * Brings the schema up to date, the job queue's as well. Does nothing where it is current already.
 * @param url connection string of a role that may create tables and, the first time, the extension pg_trgm
 */
export async function migrate(url: string): Promise<void> {
  const client = new pg.Client({ connectionString: url, application_name: 'penstock migrate' })
  await client.connect()
  try {
    await client.query('select pg_advisory_lock($1)', [lockId])
    await applyMigrations(drizzle(client), { migrationsFolder })
    await applyQueueMigrations({ connectionString: url })
  } finally {
    await client.end()
  }
}
