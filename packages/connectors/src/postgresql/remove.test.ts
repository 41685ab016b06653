import { after, describe } from 'node:test'
import { startPostgresql } from '../../test/postgresql.ts'
import { testRemovals } from '../../test/removals.ts'
import { postgresql } from './postgresql.ts'

const server = await startPostgresql()
after(() => server.close())
const { secrets, query } = server

describe(`removing from PostgreSQL ${server.version}`, () =>
  testRemovals({
    connector: postgresql,
    secrets,
    settings: { schema: 'crm', table: 't', writeMode: 'Upsert', keyColumns: 'id' },
    async reset(rows) {
      await query('drop table if exists crm.t cascade; create table crm.t (id int primary key, name text)')
      for (const row of rows) await query('insert into crm.t values ($1, $2)', [...row])
    },
    rows: async () => (await query('select id, name from crm.t order by id')).map(({ id, name }) => [id, name]),
    async refer(id) {
      await query('create table crm.r (id int references crm.t)')
      await query('insert into crm.r values ($1)', [id])
    },
  }))
