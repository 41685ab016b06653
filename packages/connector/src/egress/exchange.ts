import http from 'node:http'
import https from 'node:https'
import { Readable } from 'node:stream'
import { createGunzip } from 'node:zlib'
import type { EgressRequest } from '../context.ts'
import { Outcome } from '../outcome.ts'
import { outcomeOfFault } from './faults.ts'
import type { LookUp } from './look-up.ts'

/** Connections that are kept for the next request, of one kind: those with checked addresses, or those without. */
export type Agents = { readonly http: http.Agent; readonly https: https.Agent }

export function makeAgents(lookup?: LookUp): Agents {
  const options = { keepAlive: true, scheduling: 'lifo' as const, ...(lookup ? { lookup } : {}) }
  return { http: new http.Agent(options), https: new https.Agent(options) }
}

/** One request and its answer. */
export type Exchange = {
  /** What the caller asked for; its host is what the server is told. */
  readonly url: URL
  /** Where the request goes: the same, or what the routes say. */
  readonly target: URL
  readonly agents: Agents
  readonly init: EgressRequest
  readonly timeoutMs: number
  /** The first attempt met a connection that the server had just closed. */
  readonly again?: boolean
}

/** Headers of which a caller may have written the name in any case. */
export const headersOf = (init: EgressRequest): Record<string, string> =>
  Object.fromEntries(Object.entries(init.headers ?? {}).map(([name, value]) => [name.toLowerCase(), value]))

/**
 * Sends a request and resolves with the answer once its headers are there. The body is read from the network only as fast
 * as it is read from the answer; an answer that says nothing for `timeoutMs` while it is being read is given up.
 * Rejects with an `Outcome`, or with the reason of the signal.
 */
export async function exchange(asked: Exchange): Promise<Response> {
  const { url, target, agents, init, timeoutMs } = asked
  const { signal, method = 'GET', body } = init
  signal?.throwIfAborted()
  const { request, agent } =
    target.protocol === 'https:'
      ? { request: https.request, agent: agents.https }
      : { request: http.request, agent: agents.http }
  const headers = {
    'user-agent': 'Penstock',
    'accept-encoding': 'gzip',
    // Node leaves it out where it does not expect a body, as with DELETE.
    ...(typeof body === 'string' || body instanceof Uint8Array ? { 'content-length': Buffer.byteLength(body) } : {}),
    ...headersOf(init),
    host: url.host,
  }
  const { host } = url
  return new Promise((resolve, reject) => {
    let timer: NodeJS.Timeout | undefined
    const settle = () => {
      clearTimeout(timer)
      signal?.removeEventListener('abort', stop)
    }
    const fail = (error: unknown) => {
      settle()
      if (signal?.aborted) reject(signal.reason)
      else if (sent.reusedSocket && !asked.again && isRepeatable(init, error))
        resolve(exchange({ ...asked, again: true }))
      else reject(outcomeOfFault(error, host))
    }
    let sent: http.ClientRequest
    try {
      sent = request(target, { method, headers, agent })
    } catch (error) {
      return reject(outcomeOfFault(error, host))
    }
    const stop = () => sent.destroy(new Error('stopped'))
    signal?.addEventListener('abort', stop, { once: true })
    timer = setTimeout(() => {
      const connected = sent.socket !== null && !sent.socket.connecting
      sent.destroy(connected ? tooSlow(host, timeoutMs) : noAnswer(host, timeoutMs))
    }, timeoutMs)
    // An error after the answer has come (it came before all of the body was sent) reaches the caller through the answer.
    sent.on('error', fail)
    sent.on('response', (message) => {
      settle()
      try {
        resolve(answerOf(message, { url, method, timeoutMs, signal, raw: 'range' in headers }))
      } catch (error) {
        sent.destroy()
        reject(outcomeOfFault(error, host))
      }
    })
    if (body instanceof ReadableStream) {
      const stream = Readable.fromWeb(body as Parameters<typeof Readable.fromWeb>[0])
      stream.on('error', (error) => sent.destroy(error))
      // What nobody sends any more must not be read on.
      sent.on('close', () => stream.destroy())
      stream.pipe(sent)
    } else {
      sent.end(body)
    }
  })
}

/** A server may close a kept connection at the moment in which it is used again; what changes nothing is asked anew. */
const isRepeatable = ({ method = 'GET', body }: EgressRequest, error: unknown): boolean =>
  !(body instanceof ReadableStream) &&
  /^(GET|HEAD|PUT|DELETE|OPTIONS)$/.test(method) &&
  error instanceof Error &&
  'code' in error &&
  (error.code === 'ECONNRESET' || error.code === 'EPIPE')

type Asked = {
  readonly url: URL
  readonly method: string
  readonly timeoutMs: number
  readonly signal: AbortSignal | undefined
  /** A part of something compressed cannot be decompressed. */
  readonly raw: boolean
}

/** The answer as `fetch` would give it. */
function answerOf(message: http.IncomingMessage, { url, method, timeoutMs, signal, raw }: Asked): Response {
  const status = message.statusCode ?? 0
  if (status < 200 || status > 599) {
    throw new Outcome(
      'retry',
      'strange_status',
      `${url.host} answered with the status ${status}, which HTTP does not know.`,
    )
  }
  const headers = new Headers()
  for (const [name, values] of Object.entries(message.headersDistinct)) {
    for (const value of values ?? []) headers.append(name, value)
  }
  const compressed = headers.get('content-encoding')?.trim().toLowerCase() === 'gzip' && !raw
  const bodiless = method === 'HEAD' || status === 204 || status === 205 || status === 304
  if (bodiless) message.resume()
  if (compressed && !bodiless) for (const name of ['content-encoding', 'content-length']) headers.delete(name)
  const body = bodiless ? null : bodyOf(message, { host: url.host, timeoutMs, signal, compressed })
  const response = new Response(body, { status, statusText: message.statusMessage ?? '', headers })
  Object.defineProperty(response, 'url', { value: url.href })
  return response
}

type Reading = {
  readonly host: string
  readonly timeoutMs: number
  readonly signal: AbortSignal | undefined
  readonly compressed: boolean
}

/** The body of an answer, read as it is asked for. */
function bodyOf(message: http.IncomingMessage, reading: Reading): ReadableStream<Uint8Array> {
  const { host, timeoutMs, signal, compressed } = reading
  const bytes = compressed ? message.pipe(createGunzip()) : message
  // Nobody may be reading when the answer breaks off; whoever reads next is told by the iterator.
  message.on('error', (error) => bytes.destroy(error))
  bytes.on('error', () => {})
  const stop = () => message.destroy(new Error('stopped'))
  const settle = () => signal?.removeEventListener('abort', stop)
  if (signal?.aborted) stop()
  else signal?.addEventListener('abort', stop, { once: true })
  message.once('close', settle)
  const chunks: AsyncIterator<Uint8Array> = bytes[Symbol.asyncIterator]()
  return new ReadableStream<Uint8Array>(
    {
      async pull(controller) {
        const timer = setTimeout(() => message.destroy(tooSlow(host, timeoutMs)), timeoutMs)
        try {
          const { done, value } = await chunks.next()
          if (done) controller.close()
          else controller.enqueue(value)
        } catch (error) {
          controller.error(signal?.aborted ? signal.reason : outcomeOfFault(error, host))
        } finally {
          clearTimeout(timer)
        }
      },
      cancel() {
        message.destroy()
      },
    },
    { highWaterMark: 0 },
  )
}

const tooSlow = (host: string, timeoutMs: number): Outcome =>
  new Outcome('retry', 'timeout', `${host} has not answered within ${timeoutMs / 1000} seconds.`)

const noAnswer = (host: string, timeoutMs: number): Outcome =>
  new Outcome('unreachable', 'no_answer', `No connection to ${host} came about within ${timeoutMs / 1000} seconds.`)
