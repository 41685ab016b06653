import type { Database, Db } from './database.ts'
import { listMigrations } from './migrations.ts'
import { statement } from './statement.ts'

const appliedMigrations = statement<Record<never, never>, { name: string }>(`select name from penstock_migrations`)

/** Whether the database is reachable and its schema is the one of this program; else one sentence that says what is wrong. */
export async function checkDatabase(database: Database): Promise<string | undefined> {
  const names = await listMigrations()
  try {
    const applied = new Set((await appliedMigrations.all(database, {})).map(({ name }) => name))
    if (names.some((name) => !applied.has(name))) return 'The database lacks migrations: run penstock migrate.'
    return undefined
  } catch (error) {
    const missing = error instanceof Error && 'code' in error && error.code === '42P01'
    return missing
      ? 'The database has no tables of this version yet: run penstock migrate.'
      : 'The database cannot be reached.'
  }
}

const serverVersion = statement<Record<never, never>, { version: string; number: number }>(`
  select current_setting('server_version') as version, current_setting('server_version_num')::int as number
`)

/** The version of the server, as people and as programs read it. Throws where the server cannot be reached. */
export async function readServerVersion(database: Database): Promise<{ version: string; number: number }> {
  return (await serverVersion.first(database, {})) ?? { version: '', number: 0 }
}

const identity = statement<Record<never, never>, { identity: string }>(`
  select s.system_identifier || ' ' || d.oid as identity
  from pg_control_system() s, pg_database d where d.datname = current_database()
`)

/** A text that only this database has, on its server and on copies of that, such as a standby. */
export const readIdentity = async (db: Db): Promise<string | undefined> => (await identity.first(db, {}))?.identity
