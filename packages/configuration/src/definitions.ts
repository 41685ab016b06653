import { createHash } from 'node:crypto'
import { type Client, PenstockError } from '@penstock/client'
import type { ConnectorDefinition } from '@penstock/wire'
import { persistently } from './calls.ts'

/** Gives the definitions of connectors, each asked for once; undefined where the service does not have the connector. */
export type Definitions = (slug: string) => Promise<ConnectorDefinition | undefined>

export function createDefinitions(client: Client): Definitions {
  const known = new Map<string, Promise<ConnectorDefinition | undefined>>()
  const ask = async (slug: string) => {
    try {
      return (await persistently(() => client.getConnectorDefinition({ id: connectorIdOf(slug) }))).reply
    } catch (error) {
      if (error instanceof PenstockError && error.code === 'not_found') return undefined
      throw error
    }
  }
  return (slug) => {
    const asked = known.get(slug) ?? ask(slug)
    known.set(slug, asked)
    return asked
  }
}

/** The identifier of a connector, which is the same in every service. */
export const connectorIdOf = (slug: string): string =>
  createHash('sha256').update(`connector:${slug}`).digest('hex').slice(0, 16)
