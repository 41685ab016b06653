import type { Connector, Platform } from '@penstock/connector'

/** Everything that an organization can choose from, and how to find a thing in it. */
export type Catalogue = {
  /**
   * All connectors that this version knows, by name, then by identifier. Includes withdrawn connectors, which accounts can
   * still have.
   */
  readonly connectors: readonly Connector[]
  /** All but withdrawn ones, which cannot be added any more, in the same order. */
  readonly listedConnectors: readonly Connector[]
  /** Each platform that has a connector, without duplicates, by name. */
  readonly platforms: readonly Platform[]
  /** The connector with this identifier, if there is one. */
  readonly connectorById: (id: string) => Connector | undefined
}

/** Alphabetical as people expect it: `mParticle` stands among the names with M. */
const { compare } = new Intl.Collator('en')

/**
 * Makes the catalogue from a list of connectors in any order.
 * Fails, as a programmer's error, where two connectors share a slug, an identifier or a name,
 * or where a platform was defined twice.
 */
export function makeCatalogue(listed: readonly Connector[]): Catalogue {
  const platforms = new Map<string, Platform>()
  for (const { slug, platform } of listed) {
    if ((platforms.get(platform.slug) ?? platform) !== platform) {
      throw new Error(`${slug}: its platform ${platform.slug} is defined twice; import the one definition`)
    }
    platforms.set(platform.slug, platform)
  }
  assertDistinct(listed, 'slug')
  assertDistinct(listed, 'name')
  const byId = assertDistinct(listed, 'id')
  const connectors = [...listed].sort((a, b) => compare(a.name, b.name) || compare(a.id, b.id))
  return {
    connectors,
    listedConnectors: connectors.filter(({ status }) => status !== 'withdrawn'),
    platforms: [...platforms.values()].sort((a, b) => compare(a.name, b.name)),
    connectorById: (id) => byId.get(id),
  }
}

function assertDistinct(listed: readonly Connector[], key: 'slug' | 'name' | 'id'): Map<string, Connector> {
  const seen = new Map<string, Connector>()
  for (const connector of listed) {
    if (seen.has(connector[key])) throw new Error(`Two connectors of the catalogue have the ${key} ${connector[key]}`)
    seen.set(connector[key], connector)
  }
  return seen
}
