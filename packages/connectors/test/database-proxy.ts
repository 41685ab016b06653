import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import net, { type AddressInfo } from 'node:net'
import tls from 'node:tls'
import type { ServerError, TestServerHang } from '@penstock/connector/acceptance'

/** A proxy between a client and a real server that a test can make fail. */
export type TcpProxy = {
  readonly port: number
  /**
   * `refuses`: closes every connection, existing ones included. `hangs`: accepts connections and passes nothing on.
   * `breaks`: cuts after so many bytes from the client.
   */
  failure: 'none' | 'refuses' | 'hangs' | { readonly breaksAfterBytes: number }
  /** Resolves once something came that is not passed on. */
  hanging(): Promise<void>
  /** Stops listening, so that nothing answers at its port, until `listen`. */
  stopListening(): Promise<void>
  listen(): Promise<void>
  close(): Promise<void>
}

const certificate = (name: string) => readFileSync(new URL(`certificates/${name}`, import.meta.url))

/** The authority of the certificate with which `postgresqlTls` answers, for the name localhost alone; in PEM. */
export const testAuthority = certificate('ca.pem').toString()

/** @param postgresqlTls answers PostgreSQL's question for TLS, and speaks TLS with the client */
export async function startTcpProxy(
  target: { readonly host: string; readonly port: number },
  { postgresqlTls = false } = {},
): Promise<TcpProxy> {
  const open = new Set<net.Socket>()
  let reached = () => {}
  let hanging = Promise.resolve()
  const server = net.createServer((client) => {
    open.add(client)
    client.on('close', () => open.delete(client)).on('error', () => {})
    if (proxy.failure === 'refuses') return void client.destroy()
    if (postgresqlTls) {
      client.once('data', () => {
        client.write('S')
        const key = certificate('localhost.key')
        pass(new tls.TLSSocket(client, { isServer: true, key, cert: certificate('localhost.pem') }))
      })
    } else {
      pass(client)
    }
  })
  const pass = (client: net.Socket) => {
    const upstream = net.connect(target)
    open.add(upstream)
    let bytes = 0
    client.on('data', (data) => {
      bytes += data.length
      if (proxy.failure === 'hangs') return reached()
      if (typeof proxy.failure === 'object' && bytes > proxy.failure.breaksAfterBytes) {
        client.destroy()
        return void upstream.destroy()
      }
      if (!upstream.write(data)) client.pause()
    })
    upstream.on('drain', () => client.resume())
    upstream.on('data', (data) => {
      if (proxy.failure !== 'hangs' && !client.write(data)) upstream.pause()
    })
    client.on('drain', () => upstream.resume())
    client.on('end', () => upstream.end()).on('error', () => upstream.destroy())
    upstream.on('end', () => client.end()).on('error', () => client.destroy())
    client.on('close', () => upstream.destroy())
    upstream.on('close', () => {
      open.delete(upstream)
      client.destroy()
    })
  }
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  const stop = async () => {
    const closed = once(server, 'close')
    server.close()
    for (const socket of open) socket.destroy()
    await closed
  }
  let failure: TcpProxy['failure'] = 'none'
  const proxy: TcpProxy = {
    port,
    get failure() {
      return failure
    },
    set failure(next) {
      failure = next
      if (next === 'refuses') for (const socket of open) socket.destroy()
      hanging = new Promise((resolve) => {
        reached = resolve
      })
    },
    hanging: () => hanging,
    stopListening: stop,
    async listen() {
      server.listen(port, '127.0.0.1')
      await once(server, 'listening')
    },
    close: async () => {
      if (server.listening) await stop()
    },
  }
  return proxy
}

/** The failures of a database behind the proxy, for the suites of all connectors. @param breaks how its connections break */
export function failuresOf(
  proxy: TcpProxy,
  breaks: 'refuses' | { readonly breaksAfterBytes: number },
): { readonly errors: ServerError[]; readonly hang: TestServerHang } {
  const failing = (failure: TcpProxy['failure']) => ({
    start: () => {
      proxy.failure = failure
    },
    stop: () => {
      proxy.failure = 'none'
    },
  })
  return {
    errors: [
      { name: 'is down', start: () => proxy.stopListening(), stop: () => proxy.listen(), action: 'reconnect' },
      { name: 'breaks every connection', action: 'retry', ...failing(breaks) },
    ],
    hang: { ...failing('hangs'), reached: () => proxy.hanging() },
  }
}
