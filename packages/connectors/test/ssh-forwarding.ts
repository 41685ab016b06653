import { once } from 'node:events'
import net, { type AddressInfo } from 'node:net'
import ssh2 from 'ssh2'

/** A server of SSH in this process that signs in by password and forwards connections. */
export async function startForwardingServer({
  hostKey,
  username,
  password,
}: {
  readonly hostKey: string
  readonly username: string
  readonly password: string
}): Promise<{ readonly port: number; close(): void }> {
  const clients = new Set<ssh2.Connection>()
  const server = new ssh2.Server({ hostKeys: [hostKey] }, (client) => {
    clients.add(client)
    client.on('close', () => clients.delete(client))
    client.on('error', () => {})
    client.on('authentication', (given) => {
      if (given.method === 'password' && given.username === username && given.password === password) given.accept()
      else given.reject(['password'])
    })
    client.on('tcpip', (accept, reject, { destIP, destPort }) => {
      const far = net.connect(destPort, destIP)
      far.once('error', () => reject())
      far.once('connect', () => {
        const near = accept()
        far.on('error', () => near.close())
        near.on('error', () => far.destroy())
        near.pipe(far).pipe(near)
      })
    })
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  return {
    port: (server.address() as AddressInfo).port,
    close() {
      for (const client of clients) client.end()
      server.close()
    },
  }
}
