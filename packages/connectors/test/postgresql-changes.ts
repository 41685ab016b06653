import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import type { Chunk, Json, Values } from '@penstock/connector'
import { ConnectorError } from '@penstock/connector'
import pg from 'pg'
import { startLogicalPostgres } from '../../../test/harness/logical-postgres.ts'
import { postgresql } from '../src/postgresql/postgresql.ts'
import { batchOf, deliver, readAll } from './tables.ts'

/** A server whose changes are read, and a table of it to which they are written. */
export type ChangesScene = {
  readonly secrets: Values
  query<R extends pg.QueryResultRow = pg.QueryResultRow>(text: string, values?: unknown[]): Promise<R[]>
  /** Another slot, no publication, and empty schemas `crm` and `copies`. */
  clear(): Promise<void>
  read(cursor?: Json, more?: Values, after?: Json, user?: Values): Promise<Chunk[]>
  /** The code and the message with which reading fails. */
  failure(cursor?: Json, more?: Values, after?: Json, user?: Values): Promise<{ code: string; message: string }>
  /** Writes chunks to the table `copies.<table>` as batches of an upsert. */
  write(table: string, chunks: readonly Chunk[], keyColumns?: string): Promise<void>
  close(): Promise<void>
}

/**
 * Starts a server, with another database. PENSTOCK_TEST_LOGICAL_POSTGRES can be the URL of a server that runs, with
 * `wal_level = logical`.
 */
export async function startChanges(): Promise<ChangesScene> {
  const given = process.env.PENSTOCK_TEST_LOGICAL_POSTGRES
  const server = given === undefined ? await startLogicalPostgres() : undefined
  const url = new URL(server?.url ?? given ?? '')
  const name = `changes_${randomBytes(4).toString('hex')}`
  await using(url.href, (client) => client.query(`create database ${name}`))
  const base = url.href
  url.pathname = `/${name}`
  const secrets: Values = {
    host: url.hostname,
    port: Number(url.port),
    database: name,
    user: url.username,
    password: decodeURIComponent(url.password),
    tlsMode: 'disable',
  }
  const pool = new pg.Pool({ connectionString: url.href, max: 4 })
  pool.on('error', () => {})
  const query = async <R extends pg.QueryResultRow>(text: string, values?: unknown[]): Promise<R[]> => {
    const result: pg.QueryResult<R> | pg.QueryResult<R>[] = await pool.query<R>(text, values)
    return (Array.isArray(result) ? result.at(-1) : result)?.rows ?? []
  }
  let slots = 0
  let batches = 0
  const read = (cursor?: Json, more: Values = {}, after?: Json, user: Values = secrets) => {
    const settings = {
      schema: 'crm',
      table: 'people',
      syncMode: 'Changes',
      publication: 'penstock',
      slot: `${name}_${slots}`,
      ...more,
    }
    return readAll(postgresql, { secrets: user, settings, ...(cursor === undefined ? {} : { cursor }) }, after)
  }
  const dropSlots = () =>
    query('select pg_drop_replication_slot(slot_name) from pg_replication_slots where database = current_database()')
  return {
    secrets,
    query,
    async clear() {
      slots += 1
      await dropSlots()
      await query(`drop publication if exists penstock; drop publication if exists other;
        drop schema if exists crm cascade; drop schema if exists copies cascade; create schema crm; create schema copies`)
    },
    read,
    async failure(cursor, more, after, user) {
      const [result] = await Promise.allSettled([read(cursor, more, after, user)])
      assert(result?.status === 'rejected', 'reading fails')
      if (!(result.reason instanceof ConnectorError)) throw result.reason
      return { code: result.reason.code, message: result.reason.message }
    },
    async write(table, chunks, keyColumns = 'id') {
      for (const { columns, rows, removed } of chunks) {
        if (rows.length === 0) continue
        batches += 1
        const settings = { schema: 'copies', table, writeMode: 'Upsert', keyColumns, createTable: false }
        const batch = { ...batchOf(columns, rows, batches), ...(removed && { removed }) }
        const { rejected = [] } = await deliver(postgresql, { secrets, settings }, batch)
        assert.deepEqual(rejected, [])
      }
    },
    async close() {
      if (!server) await dropSlots()
      await pool.end()
      if (server) await server.stop()
      else await using(base, (client) => client.query(`drop database ${name} with (force)`))
    },
  }
}

async function using(connectionString: string, work: (client: pg.Client) => Promise<unknown>): Promise<void> {
  const client = new pg.Client({ connectionString })
  await client.connect()
  await work(client).finally(() => client.end())
}

/** The place at which the next transfer continues once all of these are confirmed. */
export function lastCursor(chunks: readonly Chunk[]): Json {
  const cursor = chunks.at(-1)?.cursor
  assert(cursor !== undefined, 'the last chunk has a cursor')
  return cursor
}
