import { after } from 'node:test'
import type { Cell, Row } from '@penstock/connector'
import { acceptDestination, acceptSource } from '@penstock/connector/acceptance'
import { failuresOf, startTcpProxy } from '../../test/database-proxy.ts'
import { startPostgresql } from '../../test/postgresql.ts'
import { postgresql } from './postgresql.ts'

const server = await startPostgresql()
const proxy = await startTcpProxy({ host: server.host, port: server.port })
after(async () => {
  await proxy.close()
  await server.close()
})

const secrets = { ...server.secrets, host: 'localhost', port: proxy.port }
const wrongSecrets = { ...secrets, password: 'quite another password' }
const testServer = `PostgreSQL ${server.version}`

const { errors, hang } = failuresOf(proxy, 'refuses')

const people = Array.from(
  { length: 12_000 },
  (_, index): Row => [
    String(index + 1),
    index % 3 === 0 ? null : `Zoë\t"${index}"\\n\n`,
    index / 4,
    index % 2 === 0,
    `2026-01-31T12:00:00.${String(index).padStart(5, '0')}7Z`,
  ],
)
await server.query(
  'create table crm.source (id bigint primary key, name text, score float8, member boolean, changed timestamptz)',
)
await server.query(
  'insert into crm.source select * from unnest($1::bigint[], $2::text[], $3::float8[], $4::boolean[], $5::timestamptz[])',
  [0, 1, 2, 3, 4].map((at) => people.map((row) => row[at])),
)

acceptSource({
  connector: postgresql,
  testServer,
  secrets,
  wrongSecrets,
  errors,
  hang,
  settings: { schema: 'crm', table: 'source' },
  missing: { schema: 'crm', table: 'absent' },
  incremental: { schema: 'crm', table: 'source', syncMode: 'Incremental', markerColumn: 'id' },
  columns: ['id', 'name', 'score', 'member', 'changed'],
  rows: people,
})

const columns = ['email', 'name', 'age', 'member', 'since']
const rows = Array.from(
  { length: 400 },
  (_, index): Row => [
    `person${index}@example.com`,
    index % 7 === 0 ? null : `Zoë\\ \t"${index}"\r\n`,
    index,
    index % 2 === 0,
    `2026-01-31T12:00:00.${String(index).padStart(6, '0')}Z`,
  ],
)
const readBack = async (): Promise<Row[]> => {
  const found = await server.query<Record<string, Cell>>(
    `select email, name, age, member, to_char(since at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"') as since from crm.people`,
  )
  return found.map((row) => columns.map((column) => row[column] ?? null))
}
const reset = async () => {
  await server.query('drop table if exists crm.people, crm.penstock_batches')
  await server.query(
    'create table crm.people (email text primary key, name varchar(30), age int2, member boolean, since timestamptz, note text)',
  )
}

for (const writeMode of ['Insert', 'Upsert']) {
  acceptDestination({
    connector: postgresql,
    secrets,
    wrongSecrets,
    errors,
    hang,
    columns,
    rows,
    readBack,
    reset,
    testServer: `${testServer}, ${writeMode.toLowerCase()}ing`,
    settings: { schema: 'crm', table: 'people', writeMode, keyColumns: 'email' },
    missing: { schema: 'crm', table: 'absent', writeMode, keyColumns: 'email' },
    badRows: [
      { row: ['a@example.com', 'A', 'many', true, null], reason: /is not a number/, field: 'age' },
      { row: ['b@example.com', 'B'.repeat(31), 1, true, null], reason: /too long for the column name/, field: 'name' },
      { row: ['c@example.com', 'C', 40_000, true, null], reason: /out of the range of the column age/, field: 'age' },
      { row: ['d@example.com', 'D', 1, true, '2026-02-31T00:00:00Z'], reason: /not a valid date/, field: 'since' },
      { row: ['e@example.com', 'E\0', 1, true, null], reason: /cannot hold/, field: 'name' },
      { row: [null, 'F', 1, true, null], reason: /no value for (the column )?email/, field: 'email' },
    ],
    deduplicates: true,
    visible: 'at once',
  })
}
