import { createHash } from 'node:crypto'
import { type Client, everyEntry, PenstockError } from '@penstock/client'
import { type ConnectorDefinition, didYouMean } from '@penstock/wire'
import { persistently } from './calls.ts'

/** Returns the definitions of connectors, and requests each only once; undefined if the service does not have the connector. */
export type Definitions = ((slug: string) => Promise<ConnectorDefinition | undefined>) & {
  /** A sentence with the connector that an unknown slug could mean; empty if no slug is similar. */
  readonly suggest: (slug: string) => Promise<string>
}

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
  const definitions = (slug: string) => {
    const asked = known.get(slug) ?? ask(slug)
    known.set(slug, asked)
    return asked
  }
  let slugs: Promise<readonly string[]> | undefined
  const suggest = async (slug: string) => {
    slugs ??= persistently(() => readSlugs(client))
    return didYouMean(slug, await slugs)
  }
  return Object.assign(definitions, { suggest })
}

/**
 * The slugs of the catalogue, which lists names and identifiers. Most slugs follow from the name, and the identifier proves this.
 */
async function readSlugs(client: Client): Promise<readonly string[]> {
  const [account] = (await client.listAccounts({ query: { size: 1 } })).reply
  if (!account) return []
  const slugs: string[] = []
  for await (const entry of everyEntry(client, 'listConnectors', { accountId: account.id, query: { size: 500 } })) {
    const slug = entry.name.toLowerCase().replaceAll(/[^a-z0-9]+/g, '-')
    if (connectorIdOf(slug) === entry.connectorId) slugs.push(slug)
  }
  return slugs
}

/** The identifier of a connector, which is the same in every service. */
export const connectorIdOf = (slug: string): string =>
  createHash('sha256').update(`connector:${slug}`).digest('hex').slice(0, 16)
