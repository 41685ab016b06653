import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { connectorBySlug } from './fixtures.ts'
import type { Fixture } from './transfers.ts'

/** An endpoint for webhooks that keeps every message that reaches it, repeated ones too, and answers as a test says. */
export type Endpoint = { readonly url: string; readonly messages: Message[]; answer: Answer }

export type Message = { readonly key: string; readonly rows: readonly Readonly<Record<string, unknown>>[] }

/** Response to a message, which is number `count`: a status, rejected rows, or no response. */
export type Answer = (message: Message, count: number) => Promise<Reply> | Reply
type Reply = number | 'breaks off' | { rejected?: { index: number; reason: string }[]; answers?: unknown[] } | undefined

export async function startEndpoint(t: { after(work: () => void): void }): Promise<Endpoint> {
  const server = createServer(async (request, response) => {
    const { data } = JSON.parse(Buffer.concat(await request.toArray()).toString())
    const message = { key: String(request.headers['webhook-id']), rows: data.rows }
    endpoint.messages.push(message)
    const reply = await endpoint.answer(message, endpoint.messages.length)
    if (reply === 'breaks off') response.destroy()
    else if (typeof reply === 'object') response.writeHead(200).end(JSON.stringify(reply))
    else response.writeHead(reply ?? 204).end()
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.after(() => {
    server.closeAllConnections()
    server.close()
  })
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  const endpoint: Endpoint = { url, messages: [], answer: () => undefined }
  return endpoint
}

export const webhook = connectorBySlug('webhook')

/** Adds the webhook to the account, with the endpoint as its address. */
export async function addWebhook({ caller, accountId }: Fixture, { url }: Endpoint): Promise<void> {
  await caller.addConnectors(accountId, webhook)
  const signingSecret = `whsec_${Buffer.from('s'.repeat(24)).toString('base64')}`
  const body = { secretConfig: { url, signingSecret } }
  await caller.expect(caller.call('configureConnector', { accountId, id: webhook.id, body }))
}
