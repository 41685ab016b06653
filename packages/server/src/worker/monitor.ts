import { once } from 'node:events'
import type { IncomingMessage, ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { createServer } from '../http/node-http.ts'
import type { Logger } from '../log.ts'
import { asTyped } from '../own-command.ts'

/** The address where monitoring programs read the health of a worker. */
export type Monitor = { readonly port: number; close(): Promise<void> }

export type Watched = {
  /** Why the worker cannot work, as a sentence. Undefined if it can. */
  readonly problem: () => Promise<string | undefined>
  /** The metrics, in the format of Prometheus. */
  readonly metrics: () => Promise<{ readonly type: string; readonly text: string }>
}

type Answer = { readonly status: number; readonly type: string; readonly body: string }

const connectionsMax = 64
const requestMs = 10_000
const json = (status: number, value: object): Answer => ({
  status,
  type: 'application/json; charset=utf-8',
  body: JSON.stringify(value),
})

/**
 * Serves `/healthz`, `/readyz` and `/metrics` of a worker, without a token: for a private address only.
 * @param port 0 is a free port
 * @returns rejects if nothing can listen there
 */
export async function openMonitor(
  { host, port }: { readonly host: string; readonly port: number },
  watched: Watched,
  log: Logger,
): Promise<Monitor> {
  const server = createServer({ requestTimeout: requestMs, headersTimeout: requestMs }, (request, response) => {
    answer(request, watched).then(
      (found) => send(request, response, found),
      (err) => {
        log.error({ err }, 'the monitor of the worker could not answer')
        send(request, response, json(500, { status: 'error' }))
      },
    )
  })
  server.maxConnections = connectionsMax
  server.on('clientError', (_, socket) => socket.destroy())
  server.listen(port, host)
  await once(server, 'listening')
  return {
    port: (server.address() as AddressInfo).port,
    close: async () => {
      server.close()
      server.closeAllConnections()
      await once(server, 'close').catch(() => {})
    },
  }
}

async function answer({ method = '', url = '' }: IncomingMessage, watched: Watched): Promise<Answer> {
  if (method !== 'GET' && method !== 'HEAD') return json(405, { status: 'method_not_allowed' })
  switch (url.split('?')[0]) {
    case '/healthz':
      return json(200, { status: 'ok' })
    case '/readyz': {
      const problem = await watched.problem()
      return problem === undefined
        ? json(200, { status: 'ok' })
        : json(503, { status: 'unavailable', problem: asTyped(problem) })
    }
    case '/metrics': {
      const { type, text } = await watched.metrics()
      return { status: 200, type, body: text }
    }
    default:
      return json(404, { status: 'not_found' })
  }
}

function send(request: IncomingMessage, response: ServerResponse, { status, type, body }: Answer): void {
  response.writeHead(status, {
    'content-type': type,
    'content-length': Buffer.byteLength(body),
    'cache-control': 'no-store',
    ...(status === 503 ? { 'retry-after': '2' } : {}),
    ...(status === 405 ? { allow: 'GET, HEAD' } : {}),
  })
  response.end(request.method === 'HEAD' ? undefined : body)
}
