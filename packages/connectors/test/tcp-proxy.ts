import { once } from 'node:events'
import net from 'node:net'

/** A connection to a server that can be cut, stopped or refused, as connections over the internet can. */
export type TcpProxy = {
  readonly port: number
  /** Cuts what is connected, and every later connection after so many bytes from the server. */
  cutAfter(bytes: number | undefined): void
  /** Nothing passes any more, in any direction, and neither side gets an error. */
  stall(): void
  /** Resolves once something was held up. */
  stalled(): Promise<unknown>
  /** Passes everything again, for new connections. */
  pass(): void
  /** Nothing listens any more. */
  shut(): Promise<void>
  open(): Promise<void>
  close(): Promise<void>
}

export async function startTcpProxy(target: number): Promise<TcpProxy> {
  const sockets = new Set<net.Socket>()
  let bytesMax = Number.POSITIVE_INFINITY
  let stalls = false
  let held = Promise.withResolvers()
  let server = makeServer()

  function makeServer(): net.Server {
    return net.createServer((near) => {
      const far = net.connect(target, '127.0.0.1')
      let passed = 0
      for (const [from, to] of [
        [near, far],
        [far, near],
      ] as const) {
        sockets.add(from)
        from.setNoDelay(true)
        from.on('error', () => {})
        from.on('close', () => {
          sockets.delete(from)
          if (!stalls) to.destroy()
        })
        from.on('data', (bytes: Buffer) => {
          if (stalls) return held.resolve(undefined)
          if (from === far) passed += bytes.length
          if (passed > bytesMax) {
            near.destroy()
            return far.destroy()
          }
          if (!to.write(bytes)) {
            from.pause()
            to.once('drain', () => from.resume())
          }
        })
      }
    })
  }

  const destroyAll = () => {
    for (const socket of sockets) socket.destroy()
  }
  const listen = async (port: number) => {
    server.listen(port, '127.0.0.1')
    await once(server, 'listening')
    return (server.address() as net.AddressInfo).port
  }
  const port = await listen(0)
  return {
    port,
    cutAfter(bytes = Number.POSITIVE_INFINITY) {
      bytesMax = bytes
      if (bytes !== Number.POSITIVE_INFINITY) destroyAll()
    },
    stall() {
      stalls = true
      held = Promise.withResolvers()
    },
    stalled: () => held.promise,
    pass() {
      stalls = false
      destroyAll()
    },
    async shut() {
      destroyAll()
      server.close()
      await once(server, 'close')
    },
    async open() {
      server = makeServer()
      await listen(port)
    },
    async close() {
      destroyAll()
      server.close()
    },
  }
}
