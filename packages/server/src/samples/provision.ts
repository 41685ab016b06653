import { randomBytes } from 'node:crypto'
import type pg from 'pg'
import { currentUrl, type DatabaseUrl } from '../db/addresses.ts'
import { openSession } from '../db/session.ts'

/**
 * Databases for sample data in the embedded PostgreSQL. Each has its own role, which cannot connect to other databases: neither
 * to the service's database nor to other samples.
 */

/** The embedded PostgreSQL, by the address of the service's own database. The role of that address is a superuser. */
export type SampleServer = { readonly url: DatabaseUrl }

/** A new database for a sample, and how its role signs in. */
export type SampleDatabase = {
  /** The name of the database, and of its role. */
  readonly name: string
  readonly password: string
  readonly host: string
  readonly port: number
}

/** The table that gets the people. */
export const sampleTable = 'people'

/** Bounds of a sample on the server. A role can change its own settings, so that watch.ts holds it to these. */
export const sampleBounds = {
  /** Size limit of the database in bytes. Above it, the database is emptied. */
  bytesMax: 256 * 1024 * 1024,
  /** How long a statement or a transaction can last, in milliseconds. */
  statementMs: 60_000,
  /** Locks of one connection: all databases of the server share the memory of locks. */
  locksMax: 1_000,
}
export type SampleBounds = typeof sampleBounds

const connectionsMax = 4
/** Serialises all that changes these databases and roles, over every process. */
const lock = 7_360_217_204

/**
 * Creates a database with the empty table of the people, and its role. Also removes what an interrupted attempt left.
 * @param kept names of the databases that samples have, which stay
 * @throws an error of the driver if the server is away or full
 */
export function createSampleDatabase(server: SampleServer, kept: readonly string[]): Promise<SampleDatabase> {
  return withServer(server, async (session, prefix, own) => {
    await removeOthers(session, prefix, kept)
    await closeToOthers(session, own)
    const name = `${prefix}${randomBytes(6).toString('hex')}`
    const password = randomBytes(24).toString('base64url')
    await session.query(
      `create role ${name} login nosuperuser nocreatedb nocreaterole noreplication nobypassrls
       connection limit ${connectionsMax} password '${password}'`,
    )
    await addDatabase(session, server, name)
    const { port } = new URL(currentUrl(server.url))
    return { name, password, host: '127.0.0.1', port: Number(port) }
  })
}

/** Removes every database of a sample that is not kept, with its role, and ends the connections to it. */
export function removeSampleDatabases(server: SampleServer, kept: readonly string[]): Promise<void> {
  return withServer(server, (session, prefix) => removeOthers(session, prefix, kept))
}

/** Replaces the database of a sample by an empty one, for the same role and password, and ends the connections to it. */
export function emptySampleDatabase(server: SampleServer, name: string): Promise<void> {
  return withServer(server, async (session) => {
    await session.query(`drop database if exists ${name} with (force)`)
    await addDatabase(session, server, name)
  })
}

/** Creates the database of a role. */
async function addDatabase(session: pg.Client, server: SampleServer, name: string): Promise<void> {
  // Only a superuser can change the first setting. The others are for programs without bad intent. See watch.ts.
  await session.query(`alter role ${name} reset all`)
  await session.query(`alter role ${name} set temp_file_limit = '256MB'`)
  await session.query(`alter role ${name} set statement_timeout = ${sampleBounds.statementMs}`)
  await session.query(`alter role ${name} set idle_in_transaction_session_timeout = ${sampleBounds.statementMs}`)
  // Only superusers can connect until the database is closed to everyone else.
  await session.query(`create database ${name} template template0 connection limit 0`)
  await session.query(`revoke all on database ${name} from public`)
  await session.query(`grant connect, temporary on database ${name} to ${name}`)
  await prepare(server, name)
  await session.query(`alter database ${name} connection limit ${connectionsMax}`)
}

/** Makes the table. Nothing of the tenant is in the database yet, so that a superuser can work there. */
async function prepare(server: SampleServer, name: string): Promise<void> {
  const session = await openSession(urlOf(server, name), 'samples')
  try {
    await session.query(`
      revoke all on schema public from public;
      grant usage, create on schema public to ${name};
      create table public.${sampleTable} (
        id integer primary key, email text, given_name text, family_name text, city text, country text, born date
      );
      alter table public.${sampleTable} owner to ${name}`)
  } finally {
    await session.end()
  }
}

async function removeOthers(session: pg.Client, prefix: string, kept: readonly string[]): Promise<void> {
  const { rows } = await session.query<{ name: string }>(
    `select name from (select datname::text as name from pg_database union select rolname::text from pg_roles) as names
     where starts_with(name, $1) and name <> all ($2)`,
    [prefix, kept],
  )
  for (const { name } of rows) {
    await session.query(`drop database if exists ${name} with (force)`)
    await session.query(`drop role if exists ${name}`)
  }
}

/**
 * PostgreSQL lets every role connect to every database, unless that is revoked: here for the databases that every embedded server
 * has. One that someone has added to it keeps its own permissions.
 */
async function closeToOthers(session: pg.Client, own: string): Promise<void> {
  const { rows } = await session.query<{ name: string }>(
    `select quote_ident(datname) as name from pg_database
     where datname in ($1, 'postgres', 'template1') and has_database_privilege('public', oid, 'connect, temporary')`,
    [own],
  )
  for (const { name } of rows) await session.query(`revoke connect, temporary on database ${name} from public`)
}

async function withServer<T>(
  server: SampleServer,
  work: (session: pg.Client, prefix: string, own: string) => Promise<T>,
): Promise<T> {
  const session = await openSession(urlOf(server, 'postgres'), 'samples', { blocks: true })
  try {
    await session.query('select pg_advisory_lock($1)', [lock])
    const own = decodeURIComponent(new URL(currentUrl(server.url)).pathname.slice(1))
    const { rows } = await session.query<{ oid: string }>(
      'select oid::text as oid from pg_database where datname = $1',
      [own],
    )
    // Services that share a server keep apart by it.
    return await work(session, `penstock_sample_${rows[0]?.oid}_`, own)
  } finally {
    await session.end()
  }
}

function urlOf(server: SampleServer, database: string): string {
  const url = new URL(currentUrl(server.url))
  url.pathname = `/${database}`
  return url.href
}
