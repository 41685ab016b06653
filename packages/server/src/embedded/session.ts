import { existsSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'
import pg from 'pg'
import { socketPath } from './socket.ts'

/** The name of the superuser, and of the database that is made for the service. */
export const serviceName = 'penstock'

/** How to reach a server. */
export type Address = { port: number; password: string; socketDirectory?: string | undefined }

/** The connection string of a server's database: by its socket, if it has one, else by the loopback address. */
export function connectionString({ port, password, socketDirectory }: Address): string {
  const hasSocket = socketDirectory !== undefined && existsSync(socketPath(socketDirectory, port))
  const host = hasSocket ? `?host=${encodeURIComponent(socketDirectory)}` : ''
  return `postgres://${serviceName}:${password}@127.0.0.1:${port}/${serviceName}${host}`
}

/** Creates the service's database if it is missing. This also verifies that the server accepts the password. */
export async function ensureDatabase(address: Address): Promise<void> {
  try {
    await withSession(address, async (session) => {
      const { rowCount } = await session.query('select from pg_database where datname = $1', [serviceName])
      if (rowCount === 0) await session.query(`create database ${serviceName}`)
    })
  } catch (error) {
    if (!hasSqlState(error, invalidPassword)) throw error
    throw new Error(
      'The embedded PostgreSQL does not accept the password in the file next to its data. Restore this file from a backup.',
      { cause: error },
    )
  }
}

/**
 * Whether a Penstock process is connected to the server. A connection that was closed lives on in the server for some
 * milliseconds, so one that is seen is looked at again for a second before it counts.
 */
export async function isInUse(address: Address): Promise<boolean> {
  const deadline = performance.now() + 1_000
  try {
    return await withSession(address, async (session) => {
      for (;;) {
        const { rowCount } = await session.query(
          "select from pg_stat_activity where application_name like 'penstock%' and pid <> pg_backend_pid() limit 1",
        )
        if (rowCount === 0) return false
        if (performance.now() > deadline) return true
        await sleep(50)
      }
    })
  } catch (error) {
    if (hasSqlState(error, tooManyConnections)) return true
    if (hasSqlState(error, cannotConnectNow)) return false
    throw error
  }
}

const tooManyConnections = '53300'
const cannotConnectNow = '57P03'
const invalidPassword = '28P01'

function hasSqlState(error: unknown, state: string): boolean {
  return error instanceof pg.DatabaseError && error.code === state
}

async function withSession<T>({ port, password }: Address, work: (session: pg.Client) => Promise<T>): Promise<T> {
  const session = new pg.Client({
    host: '127.0.0.1',
    port,
    user: serviceName,
    password,
    database: 'postgres',
    ssl: false,
    application_name: 'supervisor',
    connectionTimeoutMillis: 30_000,
  })
  // The server can die at any time. The query that fails reports it, and this event would report it again.
  session.on('error', () => {})
  await session.connect()
  try {
    return await work(session)
  } finally {
    await session.end()
  }
}
