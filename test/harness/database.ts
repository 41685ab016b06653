import { randomBytes } from 'node:crypto'
import pg from 'pg'

/** The variable with the connection string of the test server, with a role that can create databases. */
export const serverVariable = 'PENSTOCK_TEST_DATABASE_URL'

/** The variable with the folder of the server's socket. Unset if it has no socket. */
export const socketVariable = 'PENSTOCK_TEST_DATABASE_SOCKET'

/** The variable with the name of the migrated database to clone. The names of the clones begin with it. */
export const templateVariable = 'PENSTOCK_TEST_TEMPLATE'

/** A migrated, empty database for one test file. */
export type TestDatabase = {
  url: string
  /** Deletes the database, and ends the connections to it that are left. */
  drop(): Promise<void>
}

/** Clones the migrated template, which takes about 50 ms. Rejects if the test was not started by `npm test`. */
export const createTestDatabase = (): Promise<TestDatabase> => createFrom(fromEnvironment(templateVariable))

/** A database without any table, as an operator creates it. Rejects where the test was not started by `npm test`. */
export const createEmptyDatabase = (): Promise<TestDatabase> => createFrom('template0')

async function createFrom(template: string): Promise<TestDatabase> {
  const serverUrl = fromEnvironment(serverVariable)
  const name = `${fromEnvironment(templateVariable)}_${randomBytes(6).toString('hex')}`
  // Copying the files is as fast as copying through the write-ahead log, and dropping the copy takes a hundredth of the time.
  await execute(serverUrl, `create database ${name} template ${template} strategy file_copy`)
  return {
    url: databaseUrl(serverUrl, name),
    drop: () => execute(serverUrl, `drop database if exists ${name} with (force)`),
  }
}

/**
 * Takes a lock in a separate session, which no limit of the service ends, and holds it until it is disposed.
 * @param lock the statement that takes the lock
 */
export async function holdLock(url: string, lock: string): Promise<AsyncDisposable> {
  const client = new pg.Client({ connectionString: url, application_name: 'penstock test' })
  await client.connect()
  const release = () => client.end()
  try {
    await client.query(`begin; ${lock}`)
  } catch (error) {
    await release()
    throw error
  }
  return { [Symbol.asyncDispose]: release }
}

/** The connection string of another database on the same server. */
export function databaseUrl(serverUrl: string, name: string): string {
  const url = new URL(serverUrl)
  url.pathname = `/${name}`
  return url.href
}

/**
 * The address of a database by the socket of the server. Other servers, such as a proxy in front of it, keep their address, and so does a list of
 * several servers, which is no URL.
 */
export function bySocket(address: string): string {
  const socket = process.env[socketVariable]
  const url = URL.parse(address)
  if (!socket || !url || url.port !== new URL(fromEnvironment(serverVariable)).port) return address
  url.searchParams.set('host', socket)
  return url.href
}

/** Runs one statement on a separate connection. */
export async function execute(url: string, statement: string): Promise<void> {
  const client = new pg.Client({ connectionString: url, application_name: 'penstock test' })
  await client.connect()
  try {
    await client.query(statement)
  } finally {
    await client.end()
  }
}

function fromEnvironment(variable: string): string {
  const value = process.env[variable]
  if (!value) throw new Error(`${variable} is not set. Run this test through npm test: npm test -- <file>`)
  return value
}
