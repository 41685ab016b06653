import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { text } from 'node:stream/consumers'
import { setTimeout as delay } from 'node:timers/promises'
import { createClient } from '@penstock/client'
import { connectors } from '@penstock/connectors'
import { eventStreamConnectorId } from '@penstock/wire'
import type { Service } from '../service.ts'
import { openStreams } from './open.ts'
import { quantile, sendSteadily } from './steady.ts'

const perSecond = 200
const webhookId = connectors.find(({ slug }) => slug === 'webhook')?.id ?? ''

/** The time from the request that brings an event to the arrival of the event at a webhook, over a continuous connection. */
export async function measureDelivery(service: Service, seconds: number): Promise<void> {
  const sentMs: number[] = []
  const tookMs: number[] = []
  const receiver = createServer(async (incoming, answer) => {
    const body = await text(incoming)
    const nowMs = performance.now()
    for (const [, number] of body.matchAll(/"number":(\d+)/g))
      tookMs.push(nowMs - (sentMs[Number(number)] ?? Number.NaN))
    answer.writeHead(204).end()
  }).listen(0, '127.0.0.1')
  await once(receiver, 'listening')
  const url = `http://127.0.0.1:${(receiver.address() as AddressInfo).port}/events`
  const [stream] = await openStreams(service, 1)
  if (!stream) throw new Error('There is no stream')
  const { accountId, id, headers } = stream
  const client = createClient({ baseUrl: service.url, ...service.credentials })
  await client.addConnectors({ accountId, body: { connectorIds: [webhookId] } })
  const signingSecret = `whsec_${Buffer.alloc(32, 1).toString('base64')}`
  await client.configureConnector({ accountId, id: webhookId, body: { secretConfig: { url, signingSecret } } })
  const body = {
    name: 'Events',
    srcConnectorId: eventStreamConnectorId,
    srcConnectionConfig: {},
    destConnectorId: webhookId,
    destConnectionConfig: { mapping: '{"number": "number"}' },
  }
  const messageOf = (number: number) => ({ path: `/events/${id}`, headers, body: JSON.stringify({ number }) })
  // The columns of a stream are the columns of its events.
  sentMs[0] = performance.now()
  await sendSteadily(service.url, { perSecond: 1, seconds: 1 }, (number) => messageOf(number))
  const connection = (await client.createConnection({ accountId, body })).reply
  await client.updateConnectionStatus({ accountId, id: connection.id, body: { action: 'activate' } })
  await client.setSchedule({ accountId, id: connection.id, body: { cron: '@continuous' } })
  while (tookMs.length === 0) await delay(20)
  tookMs.length = 0
  const { statuses } = await sendSteadily(service.url, { perSecond, seconds }, (number) => {
    sentMs[number] = performance.now()
    return messageOf(number)
  })
  const deadlineMs = performance.now() + 60_000
  while (tookMs.length < perSecond * seconds && performance.now() < deadlineMs) await delay(20)
  receiver.closeAllConnections()
  receiver.close()
  const [p50, p99] = [quantile(tookMs, 0.5), quantile(tookMs, 0.99)]
  console.log(`Delivery: ${perSecond} events a second for ${seconds} s, answers ${JSON.stringify(statuses)}.`)
  console.log(
    `${tookMs.length} arrived at the webhook: half within ${p50.toFixed(0)} ms, 99 % within ${p99.toFixed(0)} ms.`,
  )
}
