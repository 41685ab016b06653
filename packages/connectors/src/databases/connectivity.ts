import type { ConnectorContext } from '@penstock/connector'
import { connectorErrorOfNetwork } from './problems.ts'
import type { Place } from './settings.ts'

const timeoutMs = 10_000

/** Connects to the database's port. Returns a sentence that says so, or throws a `ConnectorError`. */
export async function checkConnectivity(
  { egress, signal }: ConnectorContext,
  { host, port }: Pick<Place, 'host' | 'port'>,
): Promise<string> {
  try {
    const stream = await egress.connect(host, port, { signal, timeoutMs })
    stream.destroy()
  } catch (error) {
    throw signal.aborted ? signal.reason : (connectorErrorOfNetwork(error, host, true) ?? error)
  }
  return `${host} answers on port ${port}.`
}
