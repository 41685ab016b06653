import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { eventStreamConnectorId } from '@penstock/wire'
import { type ConsoleStage, startConsole } from './harness/console.ts'
import { basic } from './harness/streams.ts'
import { startTopic, type Topic } from './harness/topics.ts'
import { until } from './harness/until.ts'

/** A stream in Apache Kafka over kills of the service, with lost answers of the broker in between. */

const total = Number(process.env.PENSTOCK_TEST_EVENTS ?? 6_000)
const kills = Number(process.env.PENSTOCK_TEST_KILLS ?? 3)
const batch = 50
const senders = 4

let stage: ConsoleStage
let topic: Topic
before(async () => {
  stage = await startConsole()
  topic = await startTopic('events', 3)
})
after(async () => {
  await stage?.close()
  await topic?.close()
})

test('acknowledged events are on the topic, and once unless their sender had to send them again', async (t) => {
  const { id: accountId } = await stage.addAccount('Events')
  const id = eventStreamConnectorId
  await stage.client.addConnectors({ accountId, body: { connectorIds: [id] } })
  const body = { secretConfig: topic.settings }
  const streamId = (await stage.client.configureConnector({ accountId, id, body })).reply.configurationId
  const { key } = (await stage.client.createStreamKey({ accountId, id: streamId })).reply

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
      await until('the service is back', () =>
        fetch(`${stage.url}/healthz`).then(
          () => true,
          () => false,
        ),
      )
    }
  }

  let [acknowledged, next] = [0, 0]
  const sentOnce = new Set<string>()
  const sender = async () => {
    while (next < total) {
      const from = next
      next += batch
      const ids = Array.from({ length: batch }, (_, at) => `event ${from + at}`)
      if ((await send(ids)) === 1) for (const one of ids) sentOnce.add(one)
      acknowledged += batch
    }
  }
  const sending = Promise.all(Array.from({ length: senders }, sender))
  for (let n = 1; n <= kills; n++) {
    topic.broker.failure = { what: 'loses the answer', api: 'produce', times: 2 }
    await until(`kill ${n} is due`, () => acknowledged >= (total * n) / (kills + 1))
    await stage.kill()
    await stage.start()
  }
  await sending
  const times = new Map<string, number>()
  for (const { json } of topic.messages()) times.set(json.messageId, (times.get(json.messageId) ?? 0) + 1)
  assert.equal(times.size, total)
  assert.deepEqual(
    [...sentOnce].filter((one) => times.get(one) !== 1),
    [],
  )
  const repeated = [...times.values()].filter((count) => count > 1).length
  t.diagnostic(`${total - sentOnce.size} events were sent again, ${repeated} are on the topic more than once`)
  assert(sentOnce.size < total, 'a kill interrupted a request')
})
