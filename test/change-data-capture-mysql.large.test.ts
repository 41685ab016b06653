import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { loggingOptions, startMariadb } from '../packages/connectors/test/mariadb.ts'
import { connectorBySlug } from './harness/fixtures.ts'
import { skipWithout } from './harness/programs.ts'
import { seed } from './harness/seed.ts'

import { until } from './harness/until.ts'
import { isActive, startProcessFixture } from './harness/worker-processes.ts'
import { seeded } from './simulation/random.ts'

/**
 * A table of MariaDB is changed while its changes are copied to another one, and workers and the server are killed, and a column is
 * changed: in the end the copy is equal. PENSTOCK_TEST_CHANGES sets how many changes, PENSTOCK_TEST_SEED repeats the choices.
 */

const changes = Number(process.env.PENSTOCK_TEST_CHANGES ?? 20_000)
const mysql = connectorBySlug('mysql')
const rounds = 6
const people = 5_000

const server = await startMariadb([...loggingOptions, '--character-set-server=utf8mb4'])
after(() => server?.stop())

if (!server) test('a copy by changes of MariaDB', { skip: skipWithout('mariadbd') }, () => {})
else {
  const name = `a copy by changes equals its table of ${server.version} after ${changes} changes`
  test(`${name}, with kills of workers and of the server (PENSTOCK_TEST_SEED=${seed})`, async (t) => {
    const random = seeded(seed)
    const query = (text: string) =>
      until('the server answers', () => server.query<{ count: unknown }>(text).catch(() => undefined), 60_000)
    await server.administer(`grant replication slave, replication client on *.* to penstock@'127.0.0.1'`)
    const columns = 'id int primary key, name varchar(2000), amount decimal(30,10), at datetime(6), note text'
    await query(`create table people (${columns}) engine = InnoDB`)
    await query(`create table copy (${columns}) engine = InnoDB`)
    for (let from = 0; from < people; from += 1_000) {
      const rows = Array.from({ length: 1_000 }, (_, at) => from + at + 1)
      await query(
        `insert into people values ${rows.map((id) => `(${id}, 'n${id}', ${id}.0000000001, '2026-01-01 00:00:00.000001', repeat('é', 500))`).join(', ')}`,
      )
    }

    const fixture = await startProcessFixture(t)
    const { caller, accountId } = fixture
    const secretConfig = { ...server.secrets } as Record<string, string | number>
    await caller.addConnectors(accountId, mysql)
    await caller.expect(caller.call('configureConnector', { accountId, id: mysql.id, body: { secretConfig } }))
    const connectionId = await fixture.connect(mysql, { table: 'people', syncMode: 'Changes' }, mysql, {
      table: 'copy',
      writeMode: 'Upsert',
      keyColumns: 'id',
    })

    /** Changes rows in transactions of different sizes, in one session. */
    let changed = 0
    const change = async (count: number) => {
      for (let left = count; left > 0; ) {
        const some = Math.min(left, 1 + random.int(400))
        left -= some
        const from = random.int(people)
        const statements = [
          `update people set name = concat(left(name, 1000), 'x'), amount = amount + 0.0000000001 where id between ${from} and ${from + some}`,
          `delete from people where id between ${from} and ${from + some}`,
          `replace into people values ${Array.from({ length: some }, (_, at) => `(${from + at}, 'again', null, now(6), 'there')`).join(', ')}`,
          `update people set id = id + 1000000 where id between ${from} and ${from + Math.floor(some / 4)}`,
          `update ignore people set id = id - 1000000 where id > 1000000`,
        ]
        await query(statements[random.int(statements.length)] ?? '')
        changed += some
      }
    }
    const end = async (transferId: string) => {
      const transfer = await fixture.ended(connectionId, transferId)
      assert.deepEqual([transfer.status, transfer.error], ['succeeded', null])
      assert.equal(transfer.records.read, transfer.records.accepted)
      return transfer
    }

    let worker = fixture.spawnWorker()
    let kills = 0
    for (let round = 0; round < rounds; round++) {
      const changing = change(Math.ceil(changes / rounds))
      const { id } = await fixture.start(connectionId)
      const { attempt } = await fixture.claimed(id, 0)
      if (round % 2 === 0) {
        worker.signal('SIGKILL')
        await worker.ended
        worker = fixture.spawnWorker()
        if (isActive(await fixture.standing(id))) await fixture.claimed(id, attempt)
      } else await server.crash()
      kills++
      await changing
      // The table is copied again from here on.
      if (round === 3) await query('alter table people modify column note text')
      await end(id)
    }
    await end((await fixture.start(connectionId)).id)
    const same = 'name <=> p.name and c.amount <=> p.amount and c.at <=> p.at and c.note <=> p.note'
    for (const [one, other] of [
      ['people', 'copy'],
      ['copy', 'people'],
    ]) {
      const [found] = await query(
        `select count(*) as count from ${one} p left join ${other} c on c.id = p.id and c.${same} where c.id is null`,
      )
      assert.equal(Number(found?.count), 0, `rows of ${one} that are not in ${other}`)
    }
    const [rows] = await query('select count(*) as count from copy')
    t.diagnostic(`${kills} kills, ${changed} changes, ${Number(rows?.count)} rows`)
  })
}
