import type { Database, Db } from './database.ts'
import { listMigrations } from './migrations.ts'
import { statement } from './statement.ts'

const appliedMigrations = statement<Record<never, never>, { name: string }>(`select name from penstock_migrations`)

/** Whether the database is reachable and has the schema of this program. If not, returns a sentence that says what is wrong. */
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

const serverFacts = statement<Record<never, never>, ServerFacts>(`
  select current_setting('server_version') as version, current_setting('server_version_num')::int as number,
    current_setting('server_encoding') as encoding,
    (select jsonb_object_agg(name, setting) from pg_settings) as settings,
    (select jsonb_object_agg(name, reset_val) from pg_settings) as defaults
`)

/** The server, and the database that a session uses. */
export type ServerFacts = {
  /** The version, as people read it and as programs compare it. */
  version: string
  number: number
  encoding: string
  /** The settings of the session, and its initial settings from the server, the database, the role and the address. */
  settings: Readonly<Record<string, string>>
  defaults: Readonly<Record<string, string>>
}

/** Facts about the server. Throws if the server cannot be reached. */
export async function readServerFacts(database: Database): Promise<ServerFacts> {
  const found = await serverFacts.first(database, {})
  if (!found) throw new Error('The server returned nothing about itself')
  return found
}

const identity = statement<Record<never, never>, { identity: string }>(`
  select s.system_identifier || ' ' || d.oid as identity
  from pg_control_system() s, pg_database d where d.datname = current_database()
`)

/** A text that only this database has, on its server and on copies of that, such as a standby. */
export const readIdentity = async (db: Db): Promise<string | undefined> => (await identity.first(db, {}))?.identity
