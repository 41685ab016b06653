import { after, describe } from 'node:test'
import { startPostgresql } from '../../test/postgresql.ts'
import { testNotations, testRemovals } from '../../test/removals.ts'
import { postgresql } from './postgresql.ts'

const server = await startPostgresql()
after(() => server.close())
const { secrets, query } = server

const settings = { schema: 'crm', table: 't', writeMode: 'Upsert', keyColumns: 'id' }
const rows = async () => (await query('select id, name from crm.t order by id')).map(({ id, name }) => [id, name])

describe(`removing from PostgreSQL ${server.version}`, () => {
  testNotations({
    connector: postgresql,
    secrets,
    settings,
    async reset(given) {
      await query(`drop table if exists crm.t cascade;
        create collation if not exists crm.caseless (provider = icu, locale = 'und-u-ks-level2', deterministic = false);
        create table crm.t (id text collate crm.caseless primary key, name text)`)
      for (const row of given) await query('insert into crm.t values ($1, $2)', [...row])
    },
    rows,
  })
  testRemovals({
    connector: postgresql,
    secrets,
    settings,
    async reset(given) {
      await query('drop table if exists crm.t cascade; create table crm.t (id int primary key, name text)')
      for (const row of given) await query('insert into crm.t values ($1, $2)', [...row])
    },
    rows,
    async refer(id) {
      await query('create table crm.r (id int references crm.t)')
      await query('insert into crm.r values ($1)', [id])
    },
  })
})
