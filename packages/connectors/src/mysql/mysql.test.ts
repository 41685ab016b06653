import { after, test } from 'node:test'
import type { Cell, Row } from '@penstock/connector'
import { acceptDestination, acceptSource } from '@penstock/connector/acceptance'
import { skipWithout } from '../../../../test/harness/programs.ts'
import { failuresOf, startTcpProxy } from '../../test/database-proxy.ts'
import { type Mariadb, startMariadb } from '../../test/mariadb.ts'
import { mysql } from './mysql.ts'

const server = await startMariadb()
if (server) await testAgainst(server)
else test('MySQL against MariaDB', { skip: skipWithout('mariadbd') }, () => {})

async function testAgainst(server: Mariadb): Promise<void> {
  const proxy = await startTcpProxy({ host: '127.0.0.1', port: server.port })
  after(async () => {
    await proxy.close()
    await server.stop()
  })
  const { query } = server
  const testServer = `MariaDB ${server.version}`
  const secrets = { ...server.secrets, host: 'localhost', port: proxy.port }
  const wrongSecrets = { ...secrets, password: 'quite another password' }
  const { errors, hang } = failuresOf(proxy, 'refuses')

  const people = Array.from(
    { length: 12_000 },
    (_, index): Row => [
      String(index + 1),
      index % 3 === 0 ? null : `Zoë\t"${index}"\\n\n`,
      index / 4,
      index % 2,
      `2026-01-31T12:00:00.${String(index).padStart(6, '0')}Z`,
    ],
  )
  await query(
    'create table source (id bigint primary key, name text, score double, member boolean, changed timestamp(6) null) character set utf8mb4',
  )
  for (let at = 0; at < people.length; at += 1000) {
    await query('insert into source values ?', [
      people.slice(at, at + 1000).map((row) => [...row.slice(0, 4), String(row[4]).replace('T', ' ').slice(0, -1)]),
    ])
  }
  acceptSource({
    connector: mysql,
    testServer,
    secrets,
    wrongSecrets,
    errors,
    hang,
    settings: { table: 'source' },
    missing: { table: 'absent' },
    incremental: { table: 'source', syncMode: 'Incremental', markerColumn: 'id' },
    columns: ['id', 'name', 'score', 'member', 'changed'],
    rows: people,
  })

  const columns = ['email', 'name', 'age', 'member', 'since']
  const rows = Array.from(
    { length: 400 },
    (_, index): Row => [
      `person${index}@example.com`,
      index % 7 === 0 ? null : `Zoë\\ \t"${index}"'\r\n`,
      index,
      index % 2 === 0,
      `2026-01-31T12:00:00.${String(index).padStart(6, '0')}Z`,
    ],
  )
  const readBack = async (): Promise<Row[]> => {
    const found = await query<Record<string, Cell>>(
      `select email, name, age, member, date_format(since, '%Y-%m-%dT%H:%i:%s.%fZ') as since from people`,
    )
    return found.map((row) => [
      ...columns.slice(0, 3).map((column) => row[column] ?? null),
      row.member === 1,
      row.since ?? null,
    ])
  }
  const reset = async () => {
    await query('drop table if exists people, penstock_batches')
    await query(
      'create table people (email varchar(100) primary key, name varchar(30), age smallint, member boolean, since datetime(6), note text, constraint grown check (age <> 999)) character set utf8mb4',
    )
  }
  const modes = [
    { writeMode: 'Insert', infile: 1, how: 'inserting by LOAD DATA' },
    { writeMode: 'Insert', infile: 0, how: 'inserting by statements, where LOAD DATA LOCAL is not allowed' },
    { writeMode: 'Upsert', infile: 1, how: 'upserting' },
  ]
  for (const { writeMode, infile, how } of modes) {
    acceptDestination({
      connector: mysql,
      secrets,
      wrongSecrets,
      errors,
      hang,
      columns,
      rows,
      readBack,
      reset: async () => {
        await server.administer(`set global local_infile = ${infile}`)
        await reset()
      },
      testServer: `${testServer}, ${how}`,
      settings: { table: 'people', writeMode, keyColumns: 'email' },
      missing: { table: 'absent', writeMode, keyColumns: 'email' },
      badRows: [
        { row: ['a@example.com', 'A', 'many', true, null], reason: /not of the type of the column age/, field: 'age' },
        {
          row: ['b@example.com', 'B'.repeat(31), 1, true, null],
          reason: /too long for the column name/,
          field: 'name',
        },
        { row: ['c@example.com', 'C', 40_000, true, null], reason: /out of the range of the column age/, field: 'age' },
        { row: ['d@example.com', 'D', 1, true, '2026-02-31T00:00:00Z'], reason: /the column since/, field: 'since' },
        { row: ['e@example.com', 'E', 999, true, null], reason: /violates a check/ },
        { row: [null, 'F', 1, true, null], reason: /no value for (the column )?email/, field: 'email' },
      ],
      deduplicates: true,
      visible: 'at once',
    })
  }
}
