import assert from 'node:assert/strict'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { after, before, beforeEach, describe, test } from 'node:test'
import { setTimeout as delay } from 'node:timers/promises'
import type { Transfer } from '@penstock/wire'
import type { ClaimLimits } from '../packages/server/src/transfers/supervisor/claim.ts'
import { type Engine, people, startEngine, taken } from './harness/engine.ts'
import { connectorBySlug } from './harness/fixtures.ts'
import { withSession } from './harness/session.ts'
import { ended } from './harness/standings.ts'
import { localFolder, postgresql, startFixture } from './harness/transfers.ts'
import { until } from './harness/until.ts'

/** The order of claims: transfers of many accounts, and the limits on concurrent transfers. */

let engine: Engine
before(async () => {
  engine = await startEngine()
})
after(() => engine.close())
beforeEach(async () => {
  await engine.sql(ended('cancelled', `status in ('queued', 'running')`))
})

/** Another account with the same connectors, and a way to start transfers there. */
async function addAccount() {
  const { caller } = engine
  const { id: accountId } = await caller.addAccount()
  await caller.addConnectors(accountId, localFolder, postgresql)
  const { id: localFolderId } = localFolder
  const configure = (id: string, secretConfig: Record<string, string | number>) =>
    caller.expect(caller.call('configureConnector', { accountId, id, body: { secretConfig } }))
  await configure(localFolderId, { folder: engine.folder })
  await configure(postgresql.id, { host: 'localhost', database: 'any', user: 'any', password: 'any' })
  const connect = async (): Promise<string> => {
    const body = {
      name: 'Orders',
      srcConnectorId: localFolderId,
      srcConnectionConfig: { files: 'any.csv' },
      destConnectorId: postgresql.id,
      destConnectionConfig: { table: 'any' },
    }
    const { id } = await caller.expect(caller.call('createConnection', { accountId, body }))
    await caller.expect(caller.call('updateConnectionStatus', { accountId, id, body: { action: 'activate' } }))
    return id
  }
  const start = async (): Promise<Transfer> =>
    caller.expect(caller.call('startTransfer', { accountId, id: await connect(), body: {} }))
  return { accountId, start }
}

/** A slow destination, which records concurrent transfers. */
function watched() {
  const running = new Set<string>()
  const order: string[] = []
  let most = 0
  engine.sides.source = people(1)
  engine.sides.destination = {
    open: ({ transferId }) => ({
      deliver: async (batch) => {
        running.add(transferId)
        order.push(transferId)
        most = Math.max(most, running.size)
        await delay(20)
        return taken(batch)
      },
      close: async () => void running.delete(transferId),
    }),
  }
  return {
    order,
    get most() {
      return most
    },
  }
}

/** Several loops on one queue, like the loops of several workers. */
const workAtOnce = (loops: number, limits: Partial<ClaimLimits>) =>
  Promise.all(Array.from({ length: loops }, () => engine.work(undefined, limits)))

const unlimited = { perAccount: 1_000, perPlatform: 0 }

describe('turns', () => {
  test('are fair: one transfer of an account does not wait for the two hundred of another', async () => {
    const [many, few] = [await addAccount(), await addAccount()]
    for (let count = 0; count < 200; count++) await many.start()
    const { id } = await few.start()
    const { order } = watched()
    await workAtOnce(4, unlimited)
    assert.equal(order.length, 201)
    assert(order.indexOf(id) < 8, `it was number ${order.indexOf(id) + 1}`)
  })

  test('in one account are taken in the order in which they were asked for', async () => {
    const { start } = await addAccount()
    const ids: string[] = []
    for (let count = 0; count < 5; count++) ids.push((await start()).id)
    const { order } = watched()
    await workAtOnce(1, unlimited)
    assert.deepEqual(order, ids)
  })

  for (const [what, limits, accounts, most] of [
    ['an account', { perAccount: 2, perPlatform: 0 }, 1, 2],
    ['each of two accounts', { perAccount: 2, perPlatform: 0 }, 2, 4],
    ['a platform', { perAccount: 1_000, perPlatform: 3 }, 2, 3],
  ] as const) {
    test(`stay within the limit of ${what}, over all workers, and use it`, async () => {
      for (let account = 0; account < accounts; account++) {
        const { start } = await addAccount()
        for (let count = 0; count < 8; count++) await start()
      }
      const seen = watched()
      await workAtOnce(8, limits)
      assert.equal(seen.order.length, accounts * 8)
      assert.equal(seen.most, most)
    })
  }

  test('count a transfer once for a platform that both of its sides are on', async () => {
    const { start } = await addAccount()
    for (let count = 0; count < 6; count++) await start()
    const sides = [connectorBySlug('amazon-s3-source').id, connectorBySlug('amazon-s3-destination').id]
    await engine.sql(
      `update transfers set src_connector_id = $1, dest_connector_id = $2 where status = 'queued'`,
      ...sides,
    )
    const seen = watched()
    await workAtOnce(6, { perAccount: 1_000, perPlatform: 2 })
    assert.deepEqual([seen.order.length, seen.most], [6, 2])
  })

  test('stay within the limit of a worker, whatever wakes it', async (t) => {
    const fixture = await startFixture({ PENSTOCK_TRANSFERS: '1' })
    t.after(fixture.close)
    await writeFile(join(fixture.folder, 'people.csv'), 'email\na@example.com\n')
    await fixture.target.query('create table people (email text)')
    const begun: Transfer[] = []
    for (let count = 0; count < 3; count++) {
      begun.push(
        await fixture.start(
          await fixture.connect(localFolder, { files: 'people.csv' }, postgresql, { table: 'people' }),
        ),
      )
    }
    const { pool } = fixture.service.database
    const standings = async () => (await pool.query('select status from transfers')).rows.map(({ status }) => status)
    await withSession(fixture.targetUrl, async (session) => {
      await session.query('begin')
      await session.query('lock table people')
      await fixture.startWorker()
      await until('one is claimed', async () => (await standings()).includes('running'))
      assert.deepEqual((await standings()).sort(), ['queued', 'queued', 'running'])
      await session.query('rollback')
    })
    for (const { connectionId, id } of begun) assert.equal((await fixture.ended(connectionId, id)).status, 'succeeded')
  })
})
