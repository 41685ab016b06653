import assert from 'node:assert/strict'
import { once } from 'node:events'
import { type AddressInfo, connect, createServer } from 'node:net'
import { type TestContext, test } from 'node:test'
import { openDatabase } from '../packages/server/src/db/database.ts'
import { isAway } from '../packages/server/src/db/errors.ts'
import { createTestDatabase } from './harness/database.ts'
import { bounded } from './harness/until.ts'

/** What a connection of the pool is before a statement runs on it, and what happens when it breaks before that. */

const limit = 'set statement_timeout'

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

test('statements have a time limit on every connection of the pool', async (t) => {
  const { pool } = await openBehind(t, 'passes')
  const shown = await Promise.all([1, 2].map(() => pool.query('show statement_timeout')))
  assert.deepEqual(
    shown.map(({ rows }) => rows),
    [[{ statement_timeout: '30s' }], [{ statement_timeout: '30s' }]],
  )
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
