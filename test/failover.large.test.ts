import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { join } from 'node:path'
import { test } from 'node:test'
import { generateMasterKey } from '../packages/server/src/secrets/seal.ts'
import { steadily } from './harness/bystander.ts'
import { assertInvariants } from './harness/invariants.ts'
import { assertInTable, countFit, createPeopleTable, fitsTable, writePeople } from './harness/people.ts'
import { http, prepareStage } from './harness/process.ts'
import { startReplicatedPostgres } from './harness/replicated-postgres.ts'
import { localFolder, postgresql } from './harness/transfers.ts'
import { until } from './harness/until.ts'
import { startProcessFixture } from './harness/worker-processes.ts'

/** A primary PostgreSQL that crashes, and a standby that is promoted, while data moves and clients write. */

const rows = 3_000

test('after a failover nothing acknowledged is lost, and nothing is delivered twice', async (t) => {
  const postgres = await startReplicatedPostgres(t)
  const env = { PENSTOCK_MASTER_KEY: generateMasterKey(), DATABASE_URL: postgres.url }
  const fixture = await startProcessFixture(t, env, postgres.url)
  const stage = await prepareStage(t)
  const served = await stage.serve({ env: { ...env, PENSTOCK_WORKER: '0', PENSTOCK_RATE_LIMIT: '0' } })
  const transfers = []
  for (const table of ['first', 'second']) {
    await writePeople(join(fixture.folder, `${table}.csv`), rows)
    await createPeopleTable(fixture.target, table, true)
    const into = { table, writeMode: 'Insert' }
    transfers.push({
      table,
      connectionId: await fixture.connect(localFolder, { files: `${table}.csv` }, postgresql, into),
    })
  }

  /** Whether each sub-account that was sent is acknowledged. */
  const created = new Map<string, boolean>()
  const create = (name: string) =>
    http(served.url, '/accounts', {
      method: 'POST',
      token: fixture.token,
      headers: { 'idempotency-key': name },
      body: { name },
    })
  const statuses = new Set<number>()
  let isOver = false
  const client = steadily(
    20,
    async () => {
      const name = `account ${randomBytes(6).toString('hex')}`
      created.set(name, false)
      const { status } = await create(name)
      statuses.add(status)
      created.set(name, status === 201)
    },
    () => isOver,
  )
  client.catch(() => {})

  const holder = await fixture.target.connect()
  await holder.query('begin; lock table first, second in access exclusive mode')
  const workers = [fixture.spawnWorker(), fixture.spawnWorker()]
  const started: { table: string; connectionId: string; id: string }[] = []
  for (const one of transfers) started.push({ ...one, id: (await fixture.start(one.connectionId)).id })
  for (const { id } of started) await fixture.claimed(id, 0)
  await until('both work', () => workers.every(({ said }) => said.stderr.includes('"working"')))
  await until('clients write', () => created.size > 10)

  await postgres.killPrimary()
  await until('requests meet the outage', () => statuses.has(503))
  statuses.clear()
  await postgres.promote()
  await until('requests are served', () => statuses.has(201))
  await holder.query('rollback')
  holder.release()
  for (const { table, connectionId, id } of started) {
    const transfer = await until('it has ended', async () => {
      const found = await fixture.get(connectionId, id).catch(() => undefined)
      return found && found.finishedTime !== null ? found : undefined
    })
    assert.deepEqual([transfer.error, transfer.records.accepted], [null, countFit(rows, fitsTable)])
    await assertInTable(fixture.target, table, rows)
  }
  isOver = true
  await client
  assert.deepEqual(
    [...statuses].filter((status) => status !== 201 && status !== 503),
    [],
  )

  // Acknowledged accounts are there, and the others can be sent again under the same key.
  const { pool } = fixture.service.database
  const named = async () =>
    (await pool.query<{ name: string }>(`select name from accounts where name like 'account %'`)).rows.map(
      ({ name }) => name,
    )
  const there = new Set(await named())
  assert.deepEqual(
    [...created].filter(([name, acknowledged]) => acknowledged && !there.has(name)),
    [],
  )
  for (const name of created.keys()) assert.equal((await create(name)).status, 201)
  assert.deepEqual((await named()).sort(), [...created.keys()].sort())
  await assertInvariants(pool)
  // A process that starts now finds the primary as well.
  const listed = await stage.penstock(['org', 'list'], { env })
  assert.equal(listed.code, 0, listed.stderr)
  for (const program of [served, ...workers]) {
    program.signal('SIGTERM')
    assert.equal((await program.ended).code, 0, program.said.stderr)
  }
})
