import { once } from 'node:events'
import { type AddressInfo, connect, createServer, type Socket } from 'node:net'

/** A way to a server on which one connection can be held in the middle of what its client says. */
export type HoldingProxy = {
  /** The address of the server by this way. */
  readonly url: string
  /**
   * Holds the next connection whose client says these words: nothing passes on it any more, in either direction, and
   * nothing closes. Resolves once it is held.
   * @param passes whether the server still gets the words themselves
   */
  hold(words: string, passes: boolean): Promise<void>
  /** Lets the held connection continue with what was kept. */
  release(): void
  close(): void
}

type Hold = { words: string; passes: boolean; isReached: () => void }

export async function startHoldingProxy(target: string): Promise<HoldingProxy> {
  const { hostname, port } = new URL(target)
  const sockets = new Set<Socket>()
  let wanted: Hold | undefined
  let release = () => {}
  const listener = createServer((client) => {
    const server = connect(Number(port), hostname)
    let isHeld = false
    const kept: (() => void)[] = []
    for (const [one, other] of [
      [client, server],
      [server, client],
    ] as const) {
      sockets.add(one)
      one.on('error', () => {})
      one.once('close', () => {
        sockets.delete(one)
        if (isHeld) kept.push(() => other.destroy())
        else other.destroy()
      })
    }
    const pass = (to: Socket, bytes: Buffer) => {
      if (isHeld) kept.push(() => void to.write(bytes))
      else to.write(bytes)
    }
    server.on('data', (bytes) => pass(client, bytes))
    client.on('data', (bytes) => {
      const hold = !isHeld && wanted && bytes.includes(wanted.words) ? wanted : undefined
      if (!hold) return pass(server, bytes)
      wanted = undefined
      if (hold.passes) server.write(bytes)
      else kept.push(() => void server.write(bytes))
      isHeld = true
      release = () => {
        isHeld = false
        for (const go of kept.splice(0)) go()
      }
      hold.isReached()
    })
  }).listen(0, '127.0.0.1')
  await once(listener, 'listening')
  const url = new URL(target)
  url.host = `127.0.0.1:${(listener.address() as AddressInfo).port}`
  return {
    url: url.href,
    hold: (words, passes) =>
      new Promise((isReached) => {
        wanted = { words, passes, isReached }
      }),
    release: () => release(),
    close() {
      listener.close()
      for (const socket of sockets) socket.destroy()
    },
  }
}
