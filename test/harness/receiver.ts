import { once } from 'node:events'
import { createServer, type IncomingHttpHeaders } from 'node:http'
import type { AddressInfo } from 'node:net'

/** A receiver of events, which keeps every request, and answers as a test says. */
export type Receiver = {
  readonly url: string
  readonly requests: ReceivedRequest[]
  /** A status, a status with headers, or nothing at all: the request stays open. */
  answer: (request: ReceivedRequest) => Answer | Promise<Answer>
}

type Answer = number | { status: number; headers: Record<string, string> } | 'nothing'

export type ReceivedRequest = {
  readonly headers: IncomingHttpHeaders
  readonly body: string
  /** The header `webhook-id`. */
  readonly id: string
  readonly event: {
    readonly type: string
    readonly connectionId: string | null
    readonly accountId: string | null
    readonly data: Record<string, unknown>
  }
  /** Status of the response. */
  status: number | undefined
}

export async function startReceiver(t: { after(work: () => void): void }): Promise<Receiver> {
  const server = createServer(async (request, response) => {
    const body = Buffer.concat(await request.toArray()).toString()
    const received: ReceivedRequest = {
      headers: request.headers,
      body,
      id: String(request.headers['webhook-id']),
      event: JSON.parse(body),
      status: undefined,
    }
    receiver.requests.push(received)
    const answer = await receiver.answer(received)
    if (answer === 'nothing') return
    const { status, headers } = typeof answer === 'number' ? { status: answer, headers: {} } : answer
    received.status = status
    response.writeHead(status, headers).end('answer of the receiver')
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.after(() => {
    server.closeAllConnections()
    server.close()
  })
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/events`
  const receiver: Receiver = { url, requests: [], answer: () => 200 }
  return receiver
}
