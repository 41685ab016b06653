import assert from 'node:assert/strict'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, type TestContext, test } from 'node:test'
import { openDatabase } from '../packages/server/src/db/database.ts'
import { openKeyring } from '../packages/server/src/secrets/keyring.ts'
import { parseMasterKey } from '../packages/server/src/secrets/seal.ts'
import { openSecrets } from '../packages/server/src/secrets/secrets.ts'
import { firstConfiguration } from './harness/configurations.ts'
import { source } from './harness/fixtures.ts'
import { assertInvariants } from './harness/invariants.ts'
import { http, prepareStage, type Served, type Stage, tokenOf } from './harness/process.ts'
import { seed } from './harness/seed.ts'
import { withSession } from './harness/session.ts'
import { bounded, until } from './harness/until.ts'
import { createAccount, emptyRecord, type Record, startWriters } from './harness/writers.ts'
import { seeded } from './simulation/random.ts'

/** State after a service was killed, and the shutdown of a service at a signal. */

/** Fails unless everything that was acknowledged is there, and nothing half done. */
async function assertKept(stage: Stage, served: Served, token: string, record: Record): Promise<void> {
  for (const [id, name] of record.accounts) {
    const { status, response } = await http(served.url, `/accounts/${id}`, { token })
    assert.equal(status, 200, `account ${id}`)
    assert.equal((response as { name: string }).name, name)
  }
  for (const [id, { accountId, statuses }] of record.connections) {
    const { status, response, text } = await http(served.url, `/connections/${id}?accountId=${accountId}`, { token })
    assert.equal(status, 200, text)
    assert(statuses.includes((response as { status: string }).status), `${text}: expected ${statuses}`)
  }
  const key = parseMasterKey(await readFile(join(stage.dataDirectory, 'master.key'), 'utf8'))
  assert(key)
  const database = openDatabase({ url: await stage.databaseUrl(), poolSize: 2 })
  try {
    const keyring = await openKeyring(database, key)
    for (const [accountId, values] of record.secrets) {
      const owner = await firstConfiguration(database, { accountId, connectorId: source.id })
      const { secretAccessKey } = await openSecrets(database, keyring, owner)
      assert(values.includes(secretAccessKey), `secret of ${accountId}`)
    }
    await assertInvariants(database.pool)
    const { rows: halves } = await database.pool.query(
      `select account_id from added_connectors group by 1 having count(*) <> 2
       union all
       select a.account_id from configurations a left join secrets s using (account_id, connector_id)
       where a.connector_id = $1 and a.configured <> (s.name is not null)`,
      [source.id],
    )
    assert.deepEqual(halves, [])
  } finally {
    await database.close()
  }
}

test('what was acknowledged outlives kill -9 of the service, and of its PostgreSQL with it', async (t) => {
  const stage = await prepareStage(t)
  const record = emptyRecord()
  const random = seeded(seed)
  let served = await stage.serve()
  const token = await tokenOf(served, stage.dataDirectory)
  for (const withPostgres of [false, true, false, true]) {
    const target = record.acknowledged + 20 + random.int(100)
    const writers = startWriters(served.url, token, record)
    await until('enough is written', () => record.acknowledged >= target)
    const postmaster = await stage.postmaster()
    served.signal('SIGKILL')
    if (withPostgres && postmaster) process.kill(postmaster.pid, 'SIGKILL')
    await writers.done
    assert.equal((await served.ended).signal, 'SIGKILL')

    served = await stage.serve()
    await assertKept(stage, served, token, record)
    // A client without an answer sends its request again under the same key: no account exists twice.
    for (const name of record.keys) {
      const account = await createAccount(served.url, token, name)
      assert(account)
      record.accounts.set(account.id, name)
    }
    assert.equal(record.accounts.size, record.keys.size)
    const { headers } = await http(served.url, '/accounts?size=1', { token })
    assert.equal(headers.get('x-total-count'), String(record.keys.size))
  }
})

/** A service with an account that a session of the test holds, so that changes of it take as long as the test likes. */
async function withSlowRequests(
  t: TestContext,
  options: Parameters<Stage['serve']>[0],
  work: (scene: {
    stage: Stage
    served: Served
    slow: Promise<Awaited<ReturnType<typeof http>>>[]
    release: () => Promise<unknown>
  }) => Promise<void>,
): Promise<void> {
  const stage = await prepareStage(t)
  const served = await stage.serve(options)
  const token = await tokenOf(served, stage.dataDirectory)
  const account = await createAccount(served.url, token, 'Slow')
  assert(account)
  await withSession(await stage.databaseUrl(), async (session) => {
    await session.query('begin')
    await session.query('select from accounts where id = $1 for update', [account.id])
    const slow = [1, 2, 3, 4, 5].map((count) =>
      http(served.url, `/accounts/${account.id}`, { method: 'PUT', token, body: { name: `Slow ${count}` } }),
    )
    for (const request of slow) request.catch(() => {})
    await withSession(await stage.databaseUrl(), (watcher) =>
      until('the requests wait for the lock', async () => {
        const waiting = await watcher.query(`select from pg_stat_activity where wait_event_type = 'Lock'`)
        return waiting.rows.length === slow.length
      }),
    )
    await work({ stage, served, slow, release: () => session.query('rollback') })
  })
}

const refusesConnections = (url: string) =>
  fetch(`${url}/healthz`).then(
    () => false,
    () => true,
  )

describe('stopped by a signal', { concurrency: 2 }, () => {
  for (const [signal, terminal] of [
    ['SIGTERM', false],
    ['SIGINT', true],
  ] as const) {
    test(`by ${signal}, the service answers what is in flight, stops its PostgreSQL and ends well`, (t) =>
      withSlowRequests(t, { terminal }, async ({ stage, served, slow, release }) => {
        served.signal(signal)
        await until('it takes no new connections', () => refusesConnections(served.url))
        assert.equal(served.hasEnded, false)
        await release()
        for (const reply of await Promise.all(slow)) assert.equal(reply.status, 200, reply.text)
        const { code, stderr } = await bounded('the end', served.ended, 20_000)
        assert.equal(code, 0, stderr)
        assert.equal(await stage.postmaster(), undefined)
      }))
  }

  test('a second time, it waits for nothing, and the next start finds everything well', (t) =>
    withSlowRequests(t, {}, async ({ stage, served, slow, release }) => {
      served.signal('SIGTERM')
      await until('it takes no new connections', () => refusesConnections(served.url))
      // A signal shortly after the first one is an echo of it.
      await until('it has ended', () => {
        if (!served.hasEnded) served.signal('SIGTERM')
        return served.hasEnded
      })
      const { code } = await served.ended
      assert.equal(code, 1)
      for (const result of await Promise.allSettled(slow)) assert.equal(result.status, 'rejected')
      await release()
      const again = await stage.serve()
      const token = await tokenOf(again, stage.dataDirectory)
      assert.equal((await http(again.url, '/accounts', { token })).status, 200)
    }))

  test('while it still starts, it ends well and leaves no PostgreSQL behind', async (t) => {
    const stage = await prepareStage(t)
    const program = stage.start(process.execPath, ['packages/server/bin/penstock.js', 'serve'], {
      env: { PENSTOCK_PORT: '0' },
    })
    await until('its PostgreSQL runs', () => stage.postmaster())
    program.signal('SIGTERM')
    const { code, stderr } = await bounded('the end', program.ended, 30_000)
    assert.equal(code, 0, stderr)
    assert.equal(await stage.postmaster(), undefined)
  })

  test('with connections that are kept open but idle, it does not wait for them', async (t) => {
    const stage = await prepareStage(t)
    const served = await stage.serve()
    const token = await tokenOf(served, stage.dataDirectory)
    // Node keeps the connections of these open for more requests.
    for (const reply of await Promise.all([1, 2, 3].map(() => http(served.url, '/accounts', { token })))) {
      assert.equal(reply.status, 200)
    }
    served.signal('SIGTERM')
    assert.equal((await bounded('the end', served.ended, 20_000)).code, 0)
  })
})
