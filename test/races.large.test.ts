import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { listedConnectors } from '@penstock/connectors'
import type { Connection } from '@penstock/wire'
import {
  connectorBySlug,
  destination,
  destinationSettings,
  source,
  sourceSecrets,
  sourceSettings,
} from './harness/fixtures.ts'
import { type Rivals, runRace, said, startRivals } from './harness/race.ts'
import { withSession } from './harness/session.ts'
import { until } from './harness/until.ts'

/** Races for connectors, accounts and keys, between two services on one database. */

const rounds = 60
/** It has settings that only one of its roles needs. */
const events = connectorBySlug('mparticle-events')
let rivals: Rivals
before(async () => {
  rivals = await startRivals()
})
after(() => rivals.close())

const connectionBody = (name: string) => ({
  name,
  srcConnectorId: source.id,
  destConnectorId: destination.id,
  srcConnectionConfig: sourceSettings,
  destConnectionConfig: destinationSettings,
})
/** Whether one of the services waits for a lock. */
const isWaiting = async () => {
  const waiting = `select from pg_stat_activity
    where datname = current_database() and application_name = 'penstock' and wait_event_type = 'Lock'`
  return (await rivals.one.database.pool.query(waiting)).rows.length > 0
}

describe('connections and their connectors', () => {
  test('of two creates and a remove of their connector at once, either both creates win or the remove does', () =>
    runRace(rounds, {
      prepare: () => rivals.caller(0).addAccountWithSides(),
      moves: ({ id: accountId }, round) => [
        rivals.move(round, 'createConnection', { accountId, body: connectionBody('one') }),
        rivals.move(round + 1, 'removeConnector', { accountId, id: (round % 4 < 2 ? source : destination).id }),
        rivals.move(round + 1, 'createConnection', { accountId, body: connectionBody('two') }),
      ],
      judge: async ({ id: accountId }, replies) => {
        const outcome = replies.map(said)
        const removed = outcome[1] === 200
        const wanted = removed ? ['connector_not_added', 200, 'connector_not_added'] : [201, 'connector_in_use', 201]
        assert.deepEqual(outcome, wanted)
        await rivals.assertInvariants(accountId)
      },
    }))

  test('of a restore and a remove of the connector it needs, one wins', () =>
    runRace(rounds, {
      prepare: async () => {
        const { id: accountId } = await rivals.caller(0).addAccountWithSides()
        const { id } = await rivals.caller(0).createConnection(accountId)
        await rivals.caller(0).expect(rivals.caller(0).call('deleteConnection', { accountId, id }))
        return { accountId, id }
      },
      moves: ({ accountId, id }, round) => [
        rivals.move(round, 'restoreConnection', { accountId, id }),
        rivals.move(round + 1, 'removeConnector', { accountId, id: destination.id }),
      ],
      judge: async ({ accountId }, replies) => {
        const outcome = replies.map(said)
        const wanted = outcome[0] === 200 ? [200, 'connector_in_use'] : ['connector_not_added', 200]
        assert.deepEqual(outcome, wanted)
        await rivals.assertInvariants(accountId)
      },
    }))

  test('of two creations of a configuration with one name, one wins', () =>
    runRace(rounds, {
      prepare: () => rivals.caller(0).addAccountWithSides(),
      moves: ({ id: accountId }, round) =>
        [0, 1].map((index) =>
          rivals.move(round + index, 'createConnectorConfiguration', {
            accountId,
            id: source.id,
            body: { name: 'One' },
          }),
        ),
      judge: async ({ id: accountId }, replies) => {
        assert.deepEqual(replies.map(said).sort(), [201, 'configuration_exists'])
        await rivals.assertInvariants(accountId)
      },
    }))

  test('of a creation of a configuration and a save that renames another to its name, one wins', () =>
    runRace(rounds, {
      prepare: () => rivals.caller(0).addAccountWithSides(),
      moves: ({ id: accountId }, round) => [
        rivals.move(round, 'createConnectorConfiguration', { accountId, id: source.id, body: { name: 'One' } }),
        rivals.move(round + 1, 'configureConnector', {
          accountId,
          id: source.id,
          body: { name: 'One', secretConfig: sourceSecrets },
        }),
      ],
      judge: async (_, replies) => {
        const outcome = replies.map(said)
        assert.deepEqual(outcome, outcome[0] === 201 ? [201, 'configuration_exists'] : ['configuration_exists', 200])
      },
    }))

  test('of a deletion of a configuration, a creation and a restore of connections that use it, the connections win or it goes', () =>
    runRace(rounds, {
      prepare: async () => {
        const { call, expect, addAccountWithSides } = rivals.caller(0)
        const { id: accountId } = await addAccountWithSides()
        const { configurationId } = await expect(
          call('createConnectorConfiguration', { accountId, id: source.id, body: { name: 'Second' } }),
        )
        const body = { ...connectionBody('one'), srcConfigurationId: configurationId }
        const { id } = await expect(call('createConnection', { accountId, body }))
        await expect(call('deleteConnection', { accountId, id }))
        return { accountId, configurationId, id, body }
      },
      moves: ({ accountId, configurationId, id, body }, round) => [
        rivals.move(round, 'deleteConnectorConfiguration', { accountId, id: source.id, query: { configurationId } }),
        rivals.move(round + 1, 'createConnection', { accountId, body }),
        rivals.move(round + 1, 'restoreConnection', { accountId, id }),
      ],
      judge: async ({ accountId }, replies) => {
        const outcome = replies.map(said)
        const wanted =
          outcome[0] === 200 ? [200, 'not_found', 'configuration_deleted'] : ['configuration_in_use', 201, 200]
        assert.deepEqual(outcome, wanted)
        await rivals.assertInvariants(accountId)
      },
    }))

  test('of a deletion of a configuration and the removal of its connector, neither waits for the other forever', () =>
    runRace(rounds, {
      prepare: async () => {
        const { call, expect, addAccountWithSides } = rivals.caller(0)
        const { id: accountId } = await addAccountWithSides()
        const { configurationId } = await expect(
          call('createConnectorConfiguration', { accountId, id: source.id, body: { name: 'Second' } }),
        )
        return { accountId, configurationId }
      },
      moves: ({ accountId, configurationId }, round) => [
        rivals.move(round, 'deleteConnectorConfiguration', { accountId, id: source.id, query: { configurationId } }),
        rivals.move(round + 1, 'configureConnector', {
          accountId,
          id: source.id,
          body: { configurationId, secretConfig: sourceSecrets },
        }),
        rivals.move(round + 1, 'removeConnector', { accountId, id: source.id }),
      ],
      judge: async ({ accountId }, [deleted, saved, removed]) => {
        assert(deleted && saved && removed)
        assert([200, 'connector_not_added', 'not_found'].includes(said(deleted)), deleted.text)
        assert([200, 'connector_not_added', 'not_found'].includes(said(saved)), saved.text)
        assert.equal(said(removed), 200)
        const { rows } = await rivals.one.database.pool.query('select from secrets where account_id = $1', [accountId])
        assert.equal(rows.length, 0)
      },
    }))

  test('of an activation and a save that clears what it needs, one is refused', () =>
    runRace(rounds, {
      prepare: async () => {
        const { id: accountId } = await rivals.caller(0).addAccount()
        await rivals.caller(0).addConnectors(accountId, events)
        const bucket = { accessKeyId: 'A', secretAccessKey: 'canary-bucket' }
        const body = { secretConfig: { key: 'canary-key', secret: 'canary-secret', ...bucket } }
        await rivals.caller(0).expect(rivals.caller(0).call('configureConnector', { accountId, id: events.id, body }))
        const srcConnectionConfig = { bucketUri: 's3://bucket/events' }
        const connection = {
          name: 'Events',
          srcConnectorId: events.id,
          destConnectorId: events.id,
          srcConnectionConfig,
        }
        const { id } = await rivals
          .caller(0)
          .expect(rivals.caller(0).call('createConnection', { accountId, body: connection }))
        return { accountId, id }
      },
      moves: ({ accountId, id }, round) => [
        rivals.move(round, 'updateConnectionStatus', { accountId, id, body: { action: 'activate' } }),
        rivals.move(round + 1, 'configureConnector', {
          accountId,
          id: events.id,
          body: { secretConfig: { key: null } },
        }),
      ],
      judge: async (_, replies) => {
        const outcome = replies.map(said)
        const wanted = outcome[0] === 200 ? [200, 'connection_not_ready'] : ['connection_not_ready', 200]
        assert.deepEqual(outcome, wanted)
      },
    }))

  test('configuring a connector that is being removed saves and is destroyed with it, or is refused', () =>
    runRace(rounds, {
      prepare: () => rivals.caller(0).addAccountWithSides(),
      moves: ({ id: accountId }, round) => [
        rivals.move(round, 'configureConnector', { accountId, id: source.id, body: { secretConfig: sourceSecrets } }),
        rivals.move(round + 1, 'removeConnector', { accountId, id: source.id }),
      ],
      judge: async ({ id: accountId }, [configured, removed]) => {
        assert(configured && removed)
        assert.equal(said(removed), 200)
        assert(['connector_not_added', 200].includes(said(configured)), configured.text)
        const { rows } = await rivals.one.database.pool.query('select from secrets where account_id = $1', [accountId])
        assert.equal(rows.length, 0)
      },
    }))

  test('adding a connector while it is removed answers it, in either order', () =>
    runRace(rounds * 2, {
      prepare: () => rivals.caller(0).addAccountWithSides(),
      moves: ({ id: accountId }, round) => [
        rivals.move(round, 'removeConnector', { accountId, id: source.id }),
        rivals.move(round + 1, 'addConnectors', { accountId, body: { connectorIds: [source.id] } }),
      ],
      judge: async (_, [removed, added]) => {
        assert(removed && added)
        assert.equal(said(removed), 200)
        assert.equal(said(added), 200)
        const ids = (added.response as { connectorId: string }[]).map(({ connectorId }) => connectorId)
        assert.deepEqual(ids, [source.id])
      },
    }))

  test('a connector that Add Connector found there cannot go until the call has answered', async () => {
    const { id: accountId } = await rivals.caller(0).addAccountWithSides()
    const adding = await withSession(rivals.one.databaseUrl, async (session) => {
      // The call waits where its answer counts connections. Meanwhile the connector is removed.
      await session.query('begin; lock table connector_counts in access exclusive mode')
      const answer = rivals.caller(0).call('addConnectors', { accountId, body: { connectorIds: [source.id] } })
      await until('the call waits', () => isWaiting())
      await session.query(`set local lock_timeout = '500ms'`)
      const remove = 'delete from added_connectors where account_id = $1 and connector_id = $2'
      const removed = await session.query(remove, [accountId, source.id]).then(
        () => true,
        () => false,
      )
      await session.query(removed ? 'commit' : 'rollback')
      return answer
    })
    assert.deepEqual(
      adding.response.map(({ connectorId }) => connectorId),
      [source.id],
      adding.text,
    )
  })

  test('a removed connector answers that nothing used it, also where its last connection was deleted meanwhile', async () => {
    const { id: accountId } = await rivals.caller(0).addAccountWithSides()
    await rivals.caller(0).createConnection(accountId)
    const removed = await withSession(rivals.one.databaseUrl, async (session) => {
      // The call waits at its query for connections.
      await session.query('begin; lock table connections in access exclusive mode')
      const answer = rivals.caller(0).call('removeConnector', { accountId, id: source.id })
      await until('the call waits', () => isWaiting())
      await session.query(
        `update connections set status = 'deleted', previous_status = status, deleted_time = now() where account_id = $1`,
        [accountId],
      )
      await session.query('commit')
      return answer
    })
    assert.equal(said(removed), 200, removed.text)
    assert.deepEqual([removed.response.srcConnections, removed.response.destConnections], [0, 0])
  })

  test('two adds of the same connectors in opposite orders both succeed', () => {
    const ids = listedConnectors.slice(0, 40).map(({ id }) => id)
    return runRace(rounds, {
      prepare: () => rivals.caller(0).addAccount(),
      moves: ({ id: accountId }, round) => [
        rivals.move(round, 'addConnectors', { accountId, body: { connectorIds: ids } }),
        rivals.move(round + 1, 'addConnectors', { accountId, body: { connectorIds: ids.toReversed() } }),
      ],
      judge: async (_, replies) => {
        for (const reply of replies) {
          assert.equal(said(reply), 200, reply.text)
          const added = (reply.response as { connectorId: string }[]).map(({ connectorId }) => connectorId)
          assert.deepEqual(added.sort(), ids.toSorted())
        }
      },
    })
  })
})

describe('deleting an account', () => {
  test('takes concurrent writes in it along, or refuses them as not found', () =>
    runRace(rounds, {
      prepare: async () => {
        const { id: accountId } = await rivals.caller(0).addAccountWithSides()
        return { accountId, id: (await rivals.caller(0).createConnection(accountId)).id }
      },
      moves: ({ accountId, id }, round) => [
        rivals.move(round, 'deleteAccount', { id: accountId }),
        rivals.move(round, 'createConnection', { accountId, body: connectionBody('late') }),
        rivals.move(round + 1, 'createConnection', { accountId, body: connectionBody('later') }),
        rivals.move(round + 1, 'addConnectors', {
          accountId,
          body: { connectorIds: listedConnectors.map((one) => one.id) },
        }),
        rivals.move(round + 1, 'configureConnector', {
          accountId,
          id: source.id,
          body: { secretConfig: sourceSecrets },
        }),
        rivals.move(round, 'updateConnectionStatus', { accountId, id, body: { action: 'disable' } }),
        rivals.move(round + 1, 'deleteConnection', { accountId, id }),
        rivals.move(round + 1, 'editAccount', { id: accountId, body: { name: 'Renamed' } }),
      ],
      judge: async ({ accountId }, [deleted, ...others]) => {
        assert.equal(deleted?.status, 200, deleted?.text)
        for (const reply of others) {
          const fits = reply.status < 300 || ['not_found', 'connection_deleted'].includes(reply.error ?? '')
          assert(fits, reply.text)
        }
        await rivals.assertInvariants(accountId)
        // The other process learns of it within seconds. Then both answer the same.
        for (const one of [rivals.caller(0), rivals.caller(1)]) {
          await until('the deleted account is gone everywhere', async () => {
            const { status } = await one.call('listConnections', { accountId })
            return status === 404
          })
        }
      },
    }))

  test('succeeds once of two at once', () =>
    runRace(rounds, {
      prepare: () => rivals.caller(0).addAccountWithSides(),
      moves: ({ id }, round) => [
        rivals.move(round, 'deleteAccount', { id }),
        rivals.move(round + 1, 'deleteAccount', { id }),
      ],
      judge: async (_, replies) => {
        assert.deepEqual(replies.map(said).sort(), [200, 'not_found'])
      },
    }))
})

describe('an Idempotency-Key', () => {
  const keyed = (key: string) => ({ headers: { 'idempotency-key': key } })

  test('makes one of five creates at once, and gives all five its answer', () =>
    runRace(rounds, {
      prepare: async (round) => ({ accountId: (await rivals.caller(0).addAccountWithSides()).id, key: `one-${round}` }),
      moves: ({ accountId, key }, round) =>
        [0, 1, 2, 3, 4].map((index) =>
          rivals.move(round + index, 'createConnection', { accountId, body: connectionBody('once'), ...keyed(key) }),
        ),
      judge: async ({ accountId }, replies) => {
        assert.deepEqual(replies.map(said), [201, 201, 201, 201, 201])
        const ids = new Set(replies.map(({ response }) => (response as Connection).id))
        const { rows } = await rivals.one.database.pool.query('select id from connections where account_id = $1', [
          accountId,
        ])
        assert.deepEqual(
          rows.map(({ id }) => id),
          [...ids],
        )
        await rivals.assertInvariants(accountId)
      },
    }))

  test('of two different requests at once serves the one and refuses the other', () =>
    runRace(rounds, {
      prepare: async (round) => ({ key: `two-${round}` }),
      moves: ({ key }, round) => [
        rivals.move(round, 'addAccount', { body: { name: `${key} one` }, ...keyed(key) }),
        rivals.move(round + 1, 'addAccount', { body: { name: `${key} two` }, ...keyed(key) }),
      ],
      judge: async ({ key }, replies) => {
        assert.deepEqual(replies.map(said).sort(), [201, 'idempotency_key_reused'])
        const { rows } = await rivals.one.database.pool.query('select from accounts where name like $1', [`${key} %`])
        assert.equal(rows.length, 1)
      },
    }))

  test('is free again for a request that waited for a refused one', () =>
    runRace(rounds, {
      prepare: async (round) => ({ account: await rivals.caller(0).addAccount(), key: `three-${round}` }),
      moves: ({ account: { id: accountId }, key }, round) => [
        rivals.move(round, 'createConnection', { accountId, body: connectionBody('refused'), ...keyed(key) }),
        rivals.move(round + 1, 'addAccount', { body: { name: key }, ...keyed(key) }),
      ],
      judge: async (_, [refused, served]) => {
        assert(refused && served)
        assert(['connector_not_added', 'idempotency_key_reused'].includes(refused.error ?? ''), refused.text)
        assert.equal(said(served), 201)
      },
    }))
})
