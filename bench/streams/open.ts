import { createClient } from '@penstock/client'
import { eventStreamConnectorId } from '@penstock/wire'
import type { Service } from '../service.ts'

/** A stream, and the headers of a sender. */
export type OpenStream = { readonly accountId: string; readonly id: string; readonly headers: Record<string, string> }

/** Opens a stream in each of the first sub-accounts. @param settingsOf more settings of the stream of a place */
export async function openStreams(
  service: Service,
  count: number,
  settingsOf: (at: number) => Readonly<Record<string, string | number>> = () => ({ retentionMb: 100_000 }),
): Promise<OpenStream[]> {
  const client = createClient({ baseUrl: service.url, ...service.credentials })
  const streams: OpenStream[] = []
  for (const accountId of service.loaded.accountIds.slice(0, count)) {
    await client.addConnectors({ accountId, body: { connectorIds: [eventStreamConnectorId] } })
    const secretConfig = { receive: true, ...settingsOf(streams.length) }
    const { reply } = await client.configureConnector({ accountId, id: eventStreamConnectorId, body: { secretConfig } })
    const { key } = (await client.createStreamKey({ accountId, id: reply.configurationId })).reply
    const authorization = `Basic ${Buffer.from(`${key}:`).toString('base64')}`
    streams.push({
      accountId,
      id: reply.configurationId,
      headers: { authorization, 'content-type': 'application/json' },
    })
  }
  return streams
}

let number = 0

/** An order as a shop sends it. It has no message ID, because requests are repeated and would be duplicates. */
export const event = () => ({
  event: 'Order Completed',
  userId: `user-${number++}`,
  timestamp: '2026-01-31T12:00:00.000Z',
  properties: { order_id: `order-${number}`, revenue: 89.9, currency: 'EUR', coupon: 'WINTER' },
  context: { ip: '203.0.113.7', userAgent: 'Mozilla/5.0', page: { url: 'https://shop.example.com/checkout' } },
})

/** A request with this number of events. */
export const requestOf = (path: string, events: number, headers: Record<string, string>) => ({
  method: 'POST' as const,
  path,
  headers,
  body: JSON.stringify(Array.from({ length: events }, event)),
})
