import { after, describe, test } from 'node:test'
import { skipWithout } from '../../../../test/harness/programs.ts'
import { startMariadb } from '../../test/mariadb.ts'
import { testNotations, testRemovals } from '../../test/removals.ts'
import { mysql } from './mysql.ts'

const server = await startMariadb()
after(() => server?.stop())

if (!server) test('removing from MariaDB', { skip: skipWithout('mariadbd') }, () => {})
else {
  const { secrets, query } = server
  const settings = { table: 't', writeMode: 'Upsert', keyColumns: 'id' }
  describe(`removing from MariaDB ${server.version}`, () => {
    testNotations({
      connector: mysql,
      secrets,
      settings,
      async reset(given) {
        await query('drop table if exists r')
        await query('drop table if exists t')
        await query('create table t (id varchar(20) primary key, name text) collate utf8mb4_general_ci')
        for (const row of given) await query('insert into t values (?, ?)', [...row])
      },
      rows: async () => (await query('select id, name from t')).map(({ id, name }) => [String(id), String(name)]),
    })

    testRemovals({
      connector: mysql,
      secrets,
      settings,
      async reset(rows) {
        await query('drop table if exists r')
        await query('drop table if exists t')
        await query('create table t (id int primary key, name text) engine = InnoDB')
        for (const row of rows) await query('insert into t values (?, ?)', [...row])
      },
      rows: async () =>
        (await query('select id, name from t order by id')).map(({ id, name }) => [Number(id), String(name)]),
      async refer(id) {
        await query('create table r (id int, foreign key (id) references t (id)) engine = InnoDB')
        await query('insert into r values (?)', [id])
      },
    })
  })
}
