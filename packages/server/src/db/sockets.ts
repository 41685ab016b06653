import { Socket } from 'node:net'
import { setTimeout as delay, setImmediate as nextTurn } from 'node:timers/promises'

/** How long a server may take to take leave. */
const farewellMs = 2_000

/**
 * The sockets of connections to PostgreSQL. The driver takes leave by waiting until the server does too; one that says
 * nothing any more would hold up the end for ever, and so what is not closed in time is cut.
 */
export type Sockets = {
  /** Makes a socket, as the driver's option `stream` wants it. */
  open(): Socket
  /** Resolves once all are closed, and whoever waited on one has heard; call it when the driver was told to take leave. */
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
      const cut = delay(farewellMs, undefined, { signal: gone.signal }).then(
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
