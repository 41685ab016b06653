import type http from 'node:http'
import type { Socket } from 'node:net'
import { Readable } from 'node:stream'
import { ConnectorError } from '../connector-error.ts'
import type { EgressRequest } from '../context.ts'
import type { Agents } from './agents.ts'
import { answerOf } from './answer.ts'
import type { EgressBounds } from './bounds.ts'
import { connectorErrorOfError, strangeStatus } from './errors.ts'

/** One request and its answer. */
export type Exchange = {
  /** The requested URL; its host is sent to the server. */
  readonly url: URL
  /** The target of the request: the same, or the target of a route. */
  readonly target: URL
  readonly agents: Agents
  readonly init: EgressRequest
  readonly timeoutMs: number
  readonly bounds: EgressBounds
  /** Milliseconds on a clock that never goes back. */
  readonly now: () => number
  /** The first attempt used a connection that the server had just closed. */
  readonly again?: boolean
}

/** Headers whose names a caller may have written in any letter case. */
export const headersOf = (init: EgressRequest): Record<string, string> =>
  Object.fromEntries(Object.entries(init.headers ?? {}).map(([name, value]) => [name.toLowerCase(), value]))

/**
 * Sends a request and resolves with the answer once its headers arrive. The body is read from the network only as fast as it is
 * read from the answer. The exchange fails if the answer is silent for `timeoutMs` while it is being read, or exceeds a limit.
 * The signal ends everything immediately, regardless of the server. Rejects with a `ConnectorError`, or with the reason of the
 * signal.
 */
export async function exchange(asked: Exchange): Promise<Response> {
  const { url, target, agents, init, timeoutMs, bounds, now } = asked
  const { signal, method = 'GET', body } = init
  signal?.throwIfAborted()
  const { request, agent } = agents.for(target)
  const headers = {
    'user-agent': 'Penstock',
    'accept-encoding': 'gzip',
    // Node omits it if it does not expect a body, as with DELETE.
    ...(typeof body === 'string' || body instanceof Uint8Array ? { 'content-length': Buffer.byteLength(body) } : {}),
    ...headersOf(init),
    host: url.host,
  }
  const { host } = url
  return new Promise((resolve, reject) => {
    let timer: NodeJS.Timeout | undefined
    let settled = false
    /** Whether this is the first end of the exchange: later ones are ignored. */
    const settle = (): boolean => {
      if (settled) return false
      settled = true
      clearTimeout(timer)
      signal?.removeEventListener('abort', stop)
      return true
    }
    // Does not wait for the server: the promise is settled before the connection is closed.
    const fail = (error: unknown) => {
      if (!settle()) return
      sent?.destroy()
      if (signal?.aborted) reject(signal.reason)
      else if (sent?.reusedSocket && !asked.again && isRepeatable(init, error))
        resolve(exchange({ ...asked, again: true }))
      else reject(connectorErrorOfError(error, host))
    }
    const stop = () => fail(new Error('stopped'))
    let sent: http.ClientRequest | undefined
    let firstError: unknown
    let interim = 0
    try {
      sent = request(target, { method, headers, agent, maxHeaderSize: bounds.headerBytes })
    } catch (error) {
      return fail(error)
    }
    const outgoing = sent
    signal?.addEventListener('abort', stop, { once: true })
    timer = setTimeout(() => {
      const connected = outgoing.socket !== null && !outgoing.socket.connecting
      fail(connected ? tooSlow(host, timeoutMs) : noAnswer(host, timeoutMs))
    }, timeoutMs)
    outgoing.on('socket', guard)
    // An error after the answer has arrived (before all of the body was sent) reaches the caller through the answer.
    outgoing.on('error', (error) => {
      firstError ??= error
      fail(error)
    })
    outgoing.on('close', () => fail(new Error('closed')))
    outgoing.on('information', () => {
      interim += 1
      if (interim > bounds.interimAnswers) fail(tooManyInterim(host, bounds.interimAnswers))
    })
    // With these, Node hands over the socket, and does not handle it any further.
    const refuseSocket = (message: http.IncomingMessage, socket: Socket) => {
      guard(socket)
      socket.destroy()
      fail(strangeStatus(host, message.statusCode ?? 0))
    }
    outgoing.on('upgrade', refuseSocket)
    outgoing.on('connect', refuseSocket)
    outgoing.on('response', (message) => {
      message.on('error', () => {})
      if (!settle()) return message.destroy()
      // An answer can arrive and end while the server accepts no more of the body.
      message.on('end', () => {
        if (!outgoing.writableFinished) outgoing.destroy()
      })
      try {
        const { streams: isFile = false } = init
        const limits = { isFile, bounds, now, error: () => firstError }
        const reading = { ...limits, url, method, timeoutMs, signal, raw: 'range' in headers }
        resolve(answerOf(message, reading))
      } catch (error) {
        outgoing.destroy()
        reject(connectorErrorOfError(error, host))
      }
    })
    if (body instanceof ReadableStream) {
      const stream = Readable.fromWeb(body as Parameters<typeof Readable.fromWeb>[0])
      stream.on('error', fail)
      // After an abort the body must not be read to its end.
      outgoing.on('close', () => stream.destroy())
      stream.pipe(outgoing)
    } else {
      outgoing.end(body)
    }
  })
}

/**
 * A server can close a kept connection at the moment when it is used again. A request that is safe to repeat is then repeated.
 */
const isRepeatable = ({ method = 'GET', body }: EgressRequest, error: unknown): boolean =>
  !(body instanceof ReadableStream) &&
  /^(GET|HEAD|PUT|DELETE|OPTIONS)$/.test(method) &&
  error instanceof Error &&
  'code' in error &&
  (error.code === 'ECONNRESET' || error.code === 'EPIPE')

/** Sockets with a listener for errors. A socket can fail after its exchange is over, when nothing else listens. */
const guarded = new WeakSet<Socket>()

function guard(socket: Socket): void {
  if (guarded.has(socket)) return
  guarded.add(socket)
  socket.on('error', () => {})
}

const tooSlow = (host: string, timeoutMs: number): ConnectorError =>
  new ConnectorError('timeout', `${host} has not answered within ${timeoutMs / 1000} seconds.`)

const noAnswer = (host: string, timeoutMs: number): ConnectorError =>
  new ConnectorError('unreachable', `No connection to ${host} was established within ${timeoutMs / 1000} seconds.`)

const tooManyInterim = (host: string, most: number): ConnectorError =>
  new ConnectorError(
    'unexpected_response',
    `${host} sent more than ${most} interim answers (status 1xx), but no final answer.`,
  )
