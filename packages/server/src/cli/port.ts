import { once } from 'node:events'
import { type AddressInfo, createServer } from 'node:net'

/** Settings in which port 0 is a port that is free at the moment: addresses in replies need to know it beforehand. */
export async function withFreePort(env: NodeJS.ProcessEnv): Promise<NodeJS.ProcessEnv> {
  if (env.PENSTOCK_PORT !== '0') return env
  const server = createServer().listen(0, env.PENSTOCK_HOST || '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  server.close()
  await once(server, 'close')
  return { ...env, PENSTOCK_PORT: String(port) }
}
