import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { eventStreamConnectorId } from '@penstock/wire'
import { type ConsoleStage, postgresql, startConsole } from './harness/console.ts'
import { basic } from './harness/streams.ts'
import { until } from './harness/until.ts'

/** Streams of events over kills of the service: API, worker and runners. */

const total = Number(process.env.PENSTOCK_TEST_EVENTS ?? 20_000)
const kills = Number(process.env.PENSTOCK_TEST_KILLS ?? 6)
const batch = 50
const senders = 4

describe('a stream of events', () => {
  let stage: ConsoleStage
  before(async () => {
    stage = await startConsole()
  })
  after(() => stage?.close())

  test('has every acknowledged event once at each destination, whatever is killed', async () => {
    const { id: accountId } = await stage.addAccount('Events')
    await stage.client.addConnectors({ accountId, body: { connectorIds: [eventStreamConnectorId, postgresql.id] } })
    await stage.client.configureConnector({ accountId, id: postgresql.id, body: { secretConfig: stage.targetSecrets } })
    const body = { secretConfig: { receive: true } }
    const configured = await stage.client.configureConnector({ accountId, id: eventStreamConnectorId, body })
    const streamId = configured.reply.configurationId
    const { key } = (await stage.client.createStreamKey({ accountId, id: streamId })).reply
    for (const table of ['first_table', 'second_table']) {
      await stage.target.query(`create table ${table} (id text)`)
      const { id } = (
        await stage.client.createConnection({
          accountId,
          body: {
            name: table,
            srcConnectorId: eventStreamConnectorId,
            destConnectorId: postgresql.id,
            srcConnectionConfig: {},
            destConnectionConfig: { table, writeMode: 'Insert', mapping: '{"id": "messageId"}' },
          },
        })
      ).reply
      await send(['before it is read'])
      await stage.client.updateConnectionStatus({ accountId, id, body: { action: 'activate' } })
      await stage.client.setSchedule({ accountId, id, body: { cron: '@continuous', timezone: 'UTC', enabled: true } })
    }

    /** Sends events until they are acknowledged, as senders do. @returns how often it took */
    async function send(ids: readonly string[]): Promise<number> {
      const text = JSON.stringify(ids.map((messageId) => ({ messageId, event: 'Sent' })))
      for (let tries = 1; ; tries++) {
        const answer = await fetch(`${stage.url}/events/${streamId}`, {
          method: 'POST',
          headers: { authorization: basic(key), 'content-type': 'application/json' },
          body: text,
        }).catch(() => undefined)
        if (answer?.ok) return tries
        assert(answer === undefined || answer.status === 429 || answer.status === 503, `${answer?.status}`)
        if (!answer)
          await until('the service is back', () =>
            fetch(`${stage.url}/healthz`).then(
              () => true,
              () => false,
            ),
          )
      }
    }

    let [acknowledged, next, repeated] = [0, 0, 0]
    const sender = async () => {
      while (next < total) {
        const from = next
        next += batch
        const ids = Array.from({ length: batch }, (_, at) => `event ${from + at}`)
        if ((await send(ids)) > 1) repeated++
        acknowledged += batch
      }
    }
    const sending = Promise.all(Array.from({ length: senders }, sender))
    for (let n = 1; n <= kills; n++) {
      await until(`kill ${n} is due`, () => acknowledged >= (total * n) / (kills + 1))
      await stage.kill()
      await stage.start()
    }
    await sending
    assert(repeated > 0, 'a kill interrupted a request')
    for (const table of ['first_table', 'second_table']) {
      const counts = async () =>
        (await stage.target.query(`select count(*)::int as rows, count(distinct id)::int as ids from ${table}`)).rows[0]
      await until(`${table} has all of them`, async () => (await counts()).ids === total + 1)
      assert.deepEqual(await counts(), { rows: total + 1, ids: total + 1 }, 'each once')
    }
  })
})
