import net from 'node:net'
import { ConnectorError } from '../connector-error.ts'
import type { ConnectOptions, TcpStream } from '../context.ts'
import { connectorErrorOfError } from './errors.ts'
import { type AddressRules, bare, type LookUp } from './look-up.ts'

/** Connects to a host. Throws as `Egress.connect` does. */
export type Dial = (host: string, port: number, options?: ConnectOptions) => Promise<Dialled>

export type Dialled = {
  readonly stream: TcpStream
  /** The IP address of the host. */
  readonly address: string
}

export const connectMs = 15_000

/** Connects directly, to addresses that the rules allow. */
export const directDial =
  (rules: AddressRules): Dial =>
  async (host, port, options) => {
    rules.assertAllowedHost(host, port)
    return await dialWith(host, port, { ...options, lookup: rules.lookUp(port) })
  }

/** Connects directly. @param options `lookup` resolves names; by default the system does it */
export function dialWith(
  host: string,
  port: number,
  { signal, timeoutMs = connectMs, lookup }: ConnectOptions & { readonly lookup?: LookUp } = {},
): Promise<Dialled> {
  return new Promise((resolve, reject) => {
    if (signal?.aborted) return reject(signal.reason)
    const socket = net.connect({
      host: bare(host),
      port,
      noDelay: true,
      keepAlive: true,
      keepAliveInitialDelay: 10_000,
      ...(lookup && { lookup }),
    })
    const settle = () => {
      socket.setTimeout(0)
      socket.off('timeout', late)
      signal?.removeEventListener('abort', stop)
    }
    const fail = (error: unknown) => {
      settle()
      socket.destroy()
      reject(isOfName(error) ? connectorErrorOfError(error, host) : error)
    }
    const late = () => fail(noConnection(host, timeoutMs))
    const stop = () => fail(signal?.reason)
    socket.setTimeout(timeoutMs)
    socket.on('timeout', late)
    signal?.addEventListener('abort', stop, { once: true })
    // This listener stays, because the socket can fail before its user listens.
    socket.on('error', fail)
    socket.once('connect', () => {
      settle()
      resolve({ stream: socket, address: socket.remoteAddress ?? '' })
    })
  })
}

const isOfName = (error: unknown): boolean =>
  error instanceof Error && 'syscall' in error && error.syscall === 'getaddrinfo'

export const noConnection = (host: string, timeoutMs: number): ConnectorError =>
  new ConnectorError(
    'unreachable',
    `No connection to ${host} was established within ${timeoutMs / 1000} seconds; check the address and the port.`,
  )
