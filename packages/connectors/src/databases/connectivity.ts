import net from 'node:net'
import type { ConnectorContext } from '@penstock/connector'
import { connectorErrorOfNetwork, noAnswer } from './problems.ts'
import type { Place } from './settings.ts'

const timeoutMs = 10_000

/** Connects to the database's port. Returns a sentence that says so, or throws a `ConnectorError`. */
export async function checkConnectivity(
  { egress, signal }: ConnectorContext,
  { host, port }: Pick<Place, 'host' | 'port'>,
): Promise<string> {
  const ip = await egress.resolve(host, port)
  signal.throwIfAborted()
  await new Promise<void>((resolve, reject) => {
    const socket = net.connect({ host: ip, port })
    const end = (error?: unknown) => {
      signal.removeEventListener('abort', stop)
      socket.destroy()
      if (error === undefined) resolve()
      else reject(signal.aborted ? signal.reason : (connectorErrorOfNetwork(error, host, true) ?? error))
    }
    const stop = () => end(signal.reason)
    signal.addEventListener('abort', stop, { once: true })
    socket.setTimeout(timeoutMs, () => end(noAnswer(host, timeoutMs)))
    socket.once('connect', () => end())
    socket.once('error', end)
  })
  return `${host} answers on port ${port}.`
}
