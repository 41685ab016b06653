import type { IncomingMessage, RequestListener, Server, ServerResponse } from 'node:http'
import type { ListenOptions, Socket } from 'node:net'
import { type ErrorCode, type FieldError, limits } from '@penstock/wire'
import { createServer } from './node-http.ts'

/**
 * How long a client can take. A connection on which nothing arrives is answered with 408, or closed, after the first applicable
 * limit.
 */
export type Timeouts = {
  /** From the opening of a connection, or the first byte of a later request, to the end of the headers. */
  readonly headersMs: number
  /** From the end of the headers to the end of the body, unless a request can take longer (`allowSlowBody`). */
  readonly requestMs: number
  /** The same of a request whose body is a file. */
  readonly fileMs: number
  /** Between the end of an answer and the next request. Longer than the 60 s of common load balancers. */
  readonly keepAliveMs: number
  /** Without a byte in either direction while an answer is prepared or sent: for clients that stop reading. */
  readonly idleTimeoutMs: number
  /** How often headers and bodies are looked at. */
  readonly checkMs: number
  /**
   * After which time a connection without a request is closed where another one needs its place: one that has not sent a whole
   * request yet, and one whose requests are answered.
   */
  readonly yieldsMs: number
  readonly yieldsServedMs: number
  /** How long a connection stays open after a refusal that ends it, so that its client can read it. */
  readonly refusedMs: number
}

export const timeoutsDefault: Timeouts = {
  headersMs: 30_000,
  requestMs: 60_000,
  fileMs: limits.uploadMinutesMax * 60_000,
  keepAliveMs: 72_000,
  idleTimeoutMs: 300_000,
  checkMs: 5_000,
  yieldsMs: 5_000,
  yieldsServedMs: 30_000,
  refusedMs: 1_000,
}

/** Requests whose body can take as long as a file upload. */
const slowBodies = new WeakSet<IncomingMessage>()

/** Gives the body of a request more time. Called when it is known who sends it, and that it is a file. */
export const allowSlowBody = (request: IncomingMessage): void => void slowBodies.add(request)

/** Limits on open connections. 0 means no limit. */
export type ConnectionBounds = { readonly total: number; readonly perAddress: number }

/** Why a connection is refused. */
export type RefusedConnection = Extract<ErrorCode, 'too_many_connections' | 'overloaded'>

export type ConnectionListener = {
  /** Creates the HTTP server. All servers of one listener share its bounds. */
  createServer(handler: RequestListener): Server
  /** Sends the last bytes of a connection and closes it, also where its client does not close it. */
  end(socket: Socket, bytes: string): void
  /** The answer in progress on a connection. */
  answerOn(socket: Socket): ServerResponse | undefined
  /** Ends each connection with its next answer: one that stays open for more requests would hold up the end. */
  drain(): void
  /** Breaks the connections whose answers are not complete. A client sees that the answer is not whole. */
  cut(): void
  /** How many connections are open, and how many were refused since the start. */
  readonly counts: { open: number; readonly refused: Record<RefusedConnection, number> }
}

/**
 * How many refused connections wait for their clients to read, at least and at most. Further connections are closed without an
 * answer.
 */
const refusedAtOnceMin = 8
const refusedAtOnceMax = 64

/**
 * How many connections the system completes before they are accepted, unless its own bound (`net.core.somaxconn`) is less. A
 * client whose connection is one too many believes that it is open, and never learns otherwise.
 */
const backlog = 4_096

/**
 * Creates HTTP servers that limit open connections, in total and per address. A 64-bit IPv6 network is treated as one address.
 * A surplus connection is answered before its request is read, and closed.
 * @param isTrustedProxy whether an address belongs to a proxy, to which the limit per address does not apply
 * @param refusal the bytes of an answer, as HTTP/1.1
 */
export function createListener({
  bounds,
  timeouts,
  isTrustedProxy,
  refusal,
}: {
  bounds: ConnectionBounds
  timeouts: Timeouts
  isTrustedProxy: (address: string) => boolean
  refusal: (code: RefusedConnection, fieldErrors: readonly FieldError[]) => string
}): ConnectionListener {
  const answers = new Map<Socket, ServerResponse>()
  /** Requests whose body is not complete, and since when. */
  const arriving = new Map<IncomingMessage, number>()
  /**
   * Connections without a request, with their network and since when. The connections that have been idle for the longest time
   * come first.
   */
  const resting = { unserved: new Map<Socket, Rest>(), served: new Map<Socket, Rest>() }
  const byAddress = new Map<string, number>()
  const counts = { open: 0, refused: { too_many_connections: 0, overloaded: 0 } }
  const refusedAtOnce = Math.max(refusedAtOnceMin, Math.min(refusedAtOnceMax, Math.ceil(bounds.total / 8)))
  let refusing = 0
  let draining = false

  const rest = (socket: Socket, kind: keyof typeof resting) => {
    if (!socket.destroyed)
      resting[kind].set(socket, { network: networkOf(socket.remoteAddress ?? ''), since: performance.now() })
  }
  const stir = (socket: Socket) => {
    resting.unserved.delete(socket)
    resting.served.delete(socket)
  }

  /** Closes the connection that has been without a request for the longest time, of a network or of all. */
  const closeResting = (network?: string): boolean => {
    for (const [connections, afterMs] of [
      [resting.unserved, timeouts.yieldsMs],
      [resting.served, timeouts.yieldsServedMs],
    ] as const) {
      for (const [socket, found] of connections) {
        if (performance.now() - found.since < afterMs) break
        if (network !== undefined && found.network !== network) continue
        stir(socket)
        socket.destroy()
        return true
      }
    }
    return false
  }

  /** Counts the connection until it closes. If there are too many, returns the reason and does not count it. */
  const admit = (socket: Socket): { code: RefusedConnection; fieldError: FieldError } | undefined => {
    const network = networkOf(socket.remoteAddress ?? '')
    const ofNetwork = byAddress.get(network) ?? 0
    const bounded = bounds.perAddress > 0 && !isTrustedProxy(socket.remoteAddress ?? '')
    if (bounded && ofNetwork >= bounds.perAddress && !closeResting(network)) {
      const message = `${ofNetwork} connections are open from ${network}, the bound of PENSTOCK_HTTP_CONNECTIONS_PER_ADDRESS`
      return { code: 'too_many_connections', fieldError: { field: 'connection', message } }
    }
    if (bounds.total > 0 && counts.open >= bounds.total && !closeResting()) {
      const message = `${counts.open} connections are open, the bound of this process; PENSTOCK_HTTP_CONNECTIONS and its limit of open files set it`
      return { code: 'overloaded', fieldError: { field: 'connection', message } }
    }
    counts.open++
    byAddress.set(network, ofNetwork + 1)
    rest(socket, 'unserved')
    socket.once('close', () => {
      answers.delete(socket)
      stir(socket)
      counts.open--
      const left = (byAddress.get(network) ?? 1) - 1
      if (left > 0) byAddress.set(network, left)
      else byAddress.delete(network)
    })
    return undefined
  }

  const refuse = (socket: Socket, code: RefusedConnection, fieldError: FieldError) => {
    counts.refused[code]++
    socket.on('error', () => {})
    if (refusing >= refusedAtOnce) return void socket.destroy()
    refusing++
    socket.once('close', () => {
      refusing--
    })
    end(socket, refusal(code, [fieldError]))
    // If bytes are left unread, closing resets the connection, and the client can lose the answer.
    socket.resume()
  }

  const end = (socket: Socket, bytes: string) => {
    const late = setTimeout(() => socket.destroy(), timeouts.refusedMs)
    socket.once('close', () => clearTimeout(late))
    socket.end(bytes)
  }

  /** Ends requests that take too long to send their body, as Node does with headers. */
  const endLateBodies = (server: Server) => {
    const nowMs = performance.now()
    for (const [request, sinceMs] of arriving) {
      if (request.complete || request.socket.destroyed) arriving.delete(request)
      else if (nowMs - sinceMs > (slowBodies.has(request) ? timeouts.fileMs : timeouts.requestMs)) {
        arriving.delete(request)
        const error = Object.assign(new Error('Request timeout'), { code: 'ERR_HTTP_REQUEST_TIMEOUT' })
        server.emit('clientError', error, request.socket)
      }
    }
  }

  return {
    counts,
    end,
    answerOn: (socket) => answers.get(socket),
    drain: () => {
      draining = true
      for (const answer of answers.values()) answer.shouldKeepAlive = false
    },
    cut: () => {
      for (const socket of answers.keys()) socket.destroy()
    },
    createServer: (handler) => {
      const server = createServer(
        {
          headersTimeout: timeouts.headersMs,
          // Node has one time for all requests.
          requestTimeout: Math.max(timeouts.headersMs, timeouts.fileMs),
          keepAliveTimeout: timeouts.keepAliveMs,
          connectionsCheckingInterval: timeouts.checkMs,
          // We refuse a request without a host ourselves, in the envelope.
          requireHostHeader: false,
        },
        (request, response) => {
          const { socket } = request
          // After the end of a connection, nothing would remove it.
          if (!socket.destroyed) answers.set(socket, response)
          stir(socket)
          response.once('close', () => {
            if (answers.get(socket) === response) rest(socket, 'served')
          })
          if (draining) response.shouldKeepAlive = false
          if (hasBody(request)) arriving.set(request, performance.now())
          handler(request, response)
        },
      )
      const checking = setInterval(endLateBodies, timeouts.checkMs, server).unref()
      server.once('close', () => clearInterval(checking))
      server.setTimeout(timeouts.idleTimeoutMs)
      const listen = server.listen.bind(server) as (options: ListenOptions, ...more: unknown[]) => Server
      server.listen = ((options: ListenOptions, ...more: unknown[]) =>
        listen({ ...options, backlog }, ...more)) as typeof server.listen
      // A surplus connection must not reach the HTTP parser, which would serve what its client sends.
      const serve = server.listeners('connection')
      server.removeAllListeners('connection')
      server.on('connection', (socket) => {
        const refused = admit(socket)
        if (refused) refuse(socket, refused.code, refused.fieldError)
        else for (const listener of serve) listener.call(server, socket)
      })
      // An expectation that we do not know asks for nothing that we could refuse.
      server.on('checkExpectation', (request, response) => server.emit('request', request, response))
      return server
    },
  }
}

const hasBody = ({ headers }: IncomingMessage): boolean =>
  headers['transfer-encoding'] !== undefined || Number(headers['content-length'] ?? 0) > 0

type Rest = { readonly network: string; readonly since: number }

/** The unit that is treated as one address: an IPv4 address, or the first 64 bits of an IPv6 address. */
export function networkOf(address: string): string {
  const plain = address.replace(/^::ffff:(?=\d+\.)/i, '').replace(/%.*/, '')
  if (!plain.includes(':')) return plain
  const [left = [], right = []] = plain.split('::').map((part) => part.split(':').filter((group) => group !== ''))
  const zeros = new Array<string>(Math.max(0, 8 - left.length - right.length)).fill('0')
  return `${[...left, ...zeros, ...right].slice(0, 4).join(':')}::/64`
}
