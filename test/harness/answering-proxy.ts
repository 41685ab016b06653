import { once } from 'node:events'
import {
  createServer,
  type IncomingHttpHeaders,
  type IncomingMessage,
  type ServerResponse,
  request as send,
} from 'node:http'
import type { AddressInfo } from 'node:net'

/**
 * A proxy in front of a service. It can answer instead of the service, lose the answer of the service, or let everything
 * pass.
 */
export type AnsweringProxy = {
  readonly origin: string
  /** Requests in the order of their arrival, with the status that the client received. */
  readonly requests: readonly ProxiedRequest[]
  /** The port of the service. */
  servePort(port: number): void
  /**
   * Answers the next requests with a body, one each. `lost`: the service has received the request, but the client gets 503.
   * All later requests pass.
   */
  answerNext(...answers: (429 | 503 | 'lost')[]): void
  close(): Promise<void>
}

type ProxiedRequest = {
  readonly method: string
  readonly path: string
  readonly headers: IncomingHttpHeaders
  readonly body: Buffer
  status: number
}

/** Starts a proxy on a free port, so that the service can be given its address. */
export async function startAnsweringProxy(): Promise<AnsweringProxy> {
  const requests: ProxiedRequest[] = []
  const answers: (429 | 503 | 'lost')[] = []
  let port = 0

  const answerTo = async (request: IncomingMessage, response: ServerResponse) => {
    const { method = '', url = '', headers } = request
    const body = Buffer.concat(await request.toArray())
    const proxied: ProxiedRequest = { method, path: url, headers, body, status: 0 }
    requests.push(proxied)
    const answer = method === 'POST' ? answers.shift() : undefined
    const refuse = (status: 429 | 503) => {
      proxied.status = status
      const origin = headers.origin ?? '*'
      response.writeHead(status, {
        'retry-after': '1',
        'access-control-allow-origin': origin,
        'access-control-allow-credentials': 'true',
      })
      response.end()
    }
    if (answer === 429 || answer === 503) return refuse(answer)
    const forwarded = send({ port, host: '127.0.0.1', method, path: url, headers }).end(body)
    const [received] = (await once(forwarded, 'response')) as [IncomingMessage]
    const content = Buffer.concat(await received.toArray())
    if (answer === 'lost') return refuse(503)
    proxied.status = received.statusCode ?? 0
    response.writeHead(proxied.status, received.headers).end(content)
  }
  const server = createServer((request, response) => {
    answerTo(request, response).catch(() => request.socket.destroy())
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  return {
    origin: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    requests,
    servePort: (of) => {
      port = of
    },
    answerNext: (...next) => void answers.push(...next),
    close: async () => {
      server.closeAllConnections()
      server.close()
      await once(server, 'close')
    },
  }
}
