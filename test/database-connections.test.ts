import assert from 'node:assert/strict'
import { once } from 'node:events'
import { type AddressInfo, connect, createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { type TestContext, test } from 'node:test'
import { openDatabase } from '../packages/server/src/db/database.ts'
import { isAway } from '../packages/server/src/db/errors.ts'
import { statement } from '../packages/server/src/db/statement.ts'
import { createTestDatabase } from './harness/database.ts'
import { bounded } from './harness/until.ts'

/** Settings of a pooled connection before its first statement, and the behaviour if it breaks before that. */

const limit = "'statement_timeout'"

/** A database behind a proxy that handles the statement that sets the time limit in its own way. */
async function openBehind(t: TestContext, atLimit: 'passes' | 'breaks' | 'falls silent') {
  const { url, drop } = await createTestDatabase()
  const { port, hostname } = new URL(url)
  const proxy = createServer((client) => {
    const server = connect(Number(port), hostname)
    for (const [one, other] of [
      [client, server],
      [server, client],
    ] as const) {
      one.on('error', () => {}).once('close', () => other.destroy())
    }
    server.on('data', (bytes) => client.write(bytes))
    client.on('data', (bytes) => {
      if (atLimit === 'passes' || !bytes.includes(limit)) server.write(bytes)
      else if (atLimit === 'breaks') client.resetAndDestroy()
    })
  }).listen(0, '127.0.0.1')
  await once(proxy, 'listening')
  const through = new URL(url)
  through.port = String((proxy.address() as AddressInfo).port)
  const database = openDatabase({ url: through.href, poolSize: 2 })
  t.after(async () => {
    await bounded('the end of the pool', database.close(), 30_000)
    proxy.close()
    await drop()
  })
  return database
}

test('every connection of the pool has limits, and a server that looks for its client', async (t) => {
  const { pool } = await openBehind(t, 'passes')
  const limits = {
    statement_timeout: '30s',
    idle_in_transaction_session_timeout: '10s',
    tcp_keepalives_idle: '10',
    tcp_keepalives_interval: '5',
    tcp_keepalives_count: '2',
    tcp_user_timeout: '20000',
  }
  const asked = Object.keys(limits).map((name) => `current_setting('${name}') as ${name}`)
  const clients = [await pool.connect(), await pool.connect()]
  const shown = await Promise.all(clients.map((client) => client.query(`select ${asked}`)))
  for (const client of clients) client.release()
  for (const { rows } of shown) assert.deepEqual(rows, [limits])
})

test('a transaction that its process does not continue ends, and is a database that was away', async (t) => {
  const { url, drop } = await createTestDatabase()
  const database = openDatabase({ url, poolSize: 2, idleTransactionMs: 1_000 })
  t.after(async () => {
    await database.close()
    await drop()
  })
  const lock = statement('do $$ begin perform pg_advisory_xact_lock(23); end $$')
  const sleeping = database.transaction(async (tx) => {
    await lock.run(tx, {})
    // Another session waits for this lock, as long as it takes.
    await database.pool.query('select pg_advisory_lock(23)')
    await lock.run(tx, {})
  })
  await assert.rejects(sleeping, isAway)
})

for (const how of ['breaks', 'falls silent'] as const) {
  test(`a connection that ${how} before it has the limit is a database that is away, and ends nothing`, async (t) => {
    const { pool } = await openBehind(t, how)
    for (let times = 0; times < 3; times++) {
      await assert.rejects(bounded('an answer', pool.query('select 1'), 30_000), isAway)
    }
    assert.equal(pool.totalCount, 0, 'no connection is kept that cannot be used')
  })
}

test('a server whose socket in the file system is gone, as while it starts again, is away', async (t) => {
  const database = openDatabase({ url: `postgres://any@/any?host=${encodeURIComponent(tmpdir())}&port=1`, poolSize: 1 })
  t.after(database.close)
  await assert.rejects(database.pool.query('select 1'), (error: NodeJS.ErrnoException) => {
    assert.equal(error.code, 'ENOENT')
    return isAway(error)
  })
})
