import { Socket } from 'node:net'
import { setTimeout as delay, setImmediate as nextTurn } from 'node:timers/promises'

/** How long a server can take to close a connection. */
const closeTimeoutMs = 2_000

/**
 * The sockets of connections to PostgreSQL. To disconnect, the driver waits until the server closes the connection. A
 * server that no longer responds would block it forever, so sockets that are not closed in time are destroyed.
 */
export type Sockets = {
  /** Makes a socket, as the driver's option `stream` wants it. */
  open(): Socket
  /** Resolves when all are closed and their listeners have run. Call it after the driver was asked to disconnect. */
  closed(): Promise<void>
}

export function createSockets(): Sockets {
  const sockets = new Set<Socket>()
  return {
    open() {
      const socket = new Socket()
      sockets.add(socket)
      return socket.once('close', () => sockets.delete(socket))
    },
    async closed() {
      const gone = new AbortController()
      const cut = delay(closeTimeoutMs, undefined, { signal: gone.signal }).then(
        () => sockets.forEach((socket) => void socket.destroy()),
        () => {},
      )
      await Promise.all([...sockets].map((socket) => new Promise((resolve) => socket.once('close', resolve))))
      gone.abort()
      await cut
      await nextTurn()
    },
  }
}
