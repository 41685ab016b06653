import type { Values } from '@penstock/connector'
import pg from 'pg'
import { createTestDatabase } from '../../../test/harness/database.ts'

/** A database of the PostgreSQL that the tests run on, with an empty schema `crm`. */
export type Postgresql = {
  readonly version: string
  readonly host: string
  readonly port: number
  /** The credentials for a connector. */
  readonly secrets: Values
  /** Runs statements, and gives the rows of the last one. */
  query<R extends pg.QueryResultRow = pg.QueryResultRow>(text: string, values?: unknown[]): Promise<R[]>
  close(): Promise<void>
}

export async function startPostgresql(): Promise<Postgresql> {
  const database = await createTestDatabase()
  const url = new URL(database.url)
  const client = new pg.Client({ connectionString: database.url })
  await client.connect()
  const query = async <R extends pg.QueryResultRow>(text: string, values?: unknown[]): Promise<R[]> => {
    const result: pg.QueryResult<R> | pg.QueryResult<R>[] = await client.query<R>(text, values)
    return (Array.isArray(result) ? result.at(-1) : result)?.rows ?? []
  }
  const [server] = await query<{ server_version: string }>('show server_version')
  await query('create schema crm')
  return {
    version: server?.server_version ?? '',
    host: url.hostname,
    port: Number(url.port),
    secrets: {
      host: url.hostname,
      port: Number(url.port),
      database: url.pathname.slice(1),
      user: decodeURIComponent(url.username),
      password: decodeURIComponent(url.password),
      tlsMode: 'disable',
    },
    query,
    async close() {
      await client.end()
      await database.drop()
    },
  }
}
