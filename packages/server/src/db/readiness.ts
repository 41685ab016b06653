import type { Database } from './database.ts'
import { listMigrations } from './migrations.ts'
import { statement } from './statement.ts'

const appliedMigrations = statement<Record<never, never>, { applied: number; newest: number }>(`
  select count(*) as applied, max(created_at) as newest from drizzle.__drizzle_migrations
`)

/** Whether the database is reachable and its schema is the one of this program; else one sentence that says what is wrong. */
export async function checkDatabase(database: Database): Promise<string | undefined> {
  const newest = Math.max(...(await listMigrations()).map(({ when }) => when))
  try {
    const row = await appliedMigrations.first(database, {})
    if ((row?.newest ?? 0) < newest) return 'The database lacks migrations: run penstock migrate.'
    return undefined
  } catch (error) {
    const missing = error instanceof Error && 'code' in error && error.code === '42P01'
    return missing ? 'The database has no tables yet: run penstock migrate.' : 'The database cannot be reached.'
  }
}

const serverVersion = statement<Record<never, never>, { version: string; number: number }>(`
  select current_setting('server_version') as version, current_setting('server_version_num')::int as number
`)

/** The version of the server, as people and as programs read it. Throws where the server cannot be reached. */
export async function readServerVersion(database: Database): Promise<{ version: string; number: number }> {
  return (await serverVersion.first(database, {})) ?? { version: '', number: 0 }
}
