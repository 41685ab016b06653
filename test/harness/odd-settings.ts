import { randomBytes } from 'node:crypto'
import pg from 'pg'
import { createEmptyDatabase, databaseUrl, execute, type TestDatabase } from './database.ts'

/** Settings that an operator can set for a database or a role, each with a value other than the default of PostgreSQL. */
export const oddSettings: Readonly<Record<string, string>> = {
  jit: 'on',
  jit_above_cost: '0',
  plan_cache_mode: 'force_generic_plan',
  default_transaction_isolation: 'serializable',
  default_transaction_deferrable: 'on',
  statement_timeout: '200ms',
  lock_timeout: '1ms',
  transaction_timeout: '50ms',
  idle_in_transaction_session_timeout: '60ms',
  idle_session_timeout: '2s',
  TimeZone: 'Asia/Kolkata',
  DateStyle: 'SQL, DMY',
  IntervalStyle: 'sql_standard',
  bytea_output: 'escape',
  extra_float_digits: '-5',
  standard_conforming_strings: 'off',
  array_nulls: 'off',
  transform_null_equals: 'on',
  work_mem: '64kB',
  max_parallel_workers_per_gather: '4',
  parallel_setup_cost: '0',
  parallel_tuple_cost: '0',
  min_parallel_table_scan_size: '0',
  min_parallel_index_scan_size: '0',
  synchronous_commit: 'off',
  row_security: 'off',
  client_min_messages: 'error',
  check_function_bodies: 'off',
  xmloption: 'document',
}

/**
 * Sets the odd settings for all later sessions of a database, except settings that the server does not know.
 * @param role the role whose sessions get them; by default all roles
 */
export async function setOddly(url: string, role?: string): Promise<void> {
  const name = new URL(url).pathname.slice(1)
  const whose = role === undefined ? `database ${name}` : `role ${role} in database ${name}`
  await onServer(url, async (client) => {
    const { rows } = await client.query<{ name: string }>('select name from pg_settings')
    const known = new Set(rows.map((row) => row.name))
    for (const [setting, value] of Object.entries(oddSettings)) {
      if (!known.has(setting)) continue
      await client.query(`alter ${whose} set ${setting} = ${pg.escapeLiteral(value)}`)
    }
  })
}

/**
 * An empty database that belongs to a role without further rights, with odd settings and a schema for the sessions of that role.
 * @returns the address with that role
 */
export async function createOddDatabase(): Promise<TestDatabase> {
  const database = await createEmptyDatabase()
  const url = new URL(database.url)
  const name = url.pathname.slice(1)
  url.username = `${name}_owner`
  url.password = randomBytes(16).toString('hex')
  await onServer(database.url, async (client) => {
    await client.query(`create role ${url.username} login password '${url.password}'`)
    await client.query(`alter database ${name} owner to ${url.username}`)
  })
  await execute(database.url, `create schema own authorization ${url.username}`)
  await setOddly(database.url, url.username)
  await onServer(database.url, (client) =>
    client.query(`alter role ${url.username} in database ${name} set search_path = own, public`),
  )
  return {
    url: url.href,
    drop: async () => {
      await database.drop()
      await onServer(database.url, (client) => client.query(`drop role ${url.username}`))
    },
  }
}

async function onServer(url: string, work: (client: pg.Client) => Promise<unknown>): Promise<void> {
  const client = new pg.Client({ connectionString: databaseUrl(url, 'postgres'), application_name: 'penstock test' })
  await client.connect()
  try {
    await work(client)
  } finally {
    await client.end()
  }
}
