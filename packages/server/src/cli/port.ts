import { once } from 'node:events'
import { type AddressInfo, createServer } from 'node:net'
import { ConfigError, readConfig } from '../config.ts'

/**
 * Settings in which port 0 is a port that is free now: addresses in replies need to know it beforehand.
 * @throws ConfigError where a setting is bad, or if nothing can listen on the host
 */
export async function withFreePort(env: NodeJS.ProcessEnv): Promise<NodeJS.ProcessEnv> {
  if (env.PENSTOCK_PORT?.trim() !== '0') return env
  const { host } = readConfig({ ...env, PENSTOCK_PORT: undefined })
  const server = createServer().listen(0, host)
  try {
    await once(server, 'listening')
  } catch (error) {
    throw explainListenFailure(error, host, 0)
  }
  const { port } = server.address() as AddressInfo
  server.close()
  await once(server, 'close')
  return { ...env, PENSTOCK_PORT: String(port) }
}

/** Advice if a server cannot listen on an address: the invalid setting, or the port that is in use. */
export function explainListenFailure(
  error: unknown,
  host: string,
  port: number,
  names = { host: 'PENSTOCK_HOST', port: 'PENSTOCK_PORT' },
): Error {
  const { code } = error as NodeJS.ErrnoException
  switch (code) {
    case 'EADDRINUSE':
      return new Error(
        `Port ${port} on ${host} is in use by another program: stop it, or set ${names.port} to a free one.`,
      )
    case 'EACCES':
      return new ConfigError([
        `${names.port} must be a port that this user may listen on; ${port} is not: use one from 1024 on.`,
      ])
    case 'EADDRNOTAVAIL':
    case 'EINVAL':
      return new ConfigError([
        `${names.host} must be an address of this machine; ${host} is not (${code}): use 127.0.0.1, or 0.0.0.0 for every address.`,
      ])
    case 'ENOTFOUND':
    case 'EAI_AGAIN':
      return new ConfigError([
        `${names.host} must be an address of this machine; the name ${host} was not found (${code}): use 127.0.0.1, or 0.0.0.0 for every address.`,
      ])
    default:
      return error as Error
  }
}
