import type { Connector } from './connector.ts'

/**
 * Why a source and a destination cannot be paired, one sentence each; none where they fit (invariant 2).
 * The roles must fit and so must the categories: a data store feeds and takes everything, identity management feeds
 * audience activation, and otherwise both are of one category.
 */
export function incompatibilities(source: Connector, destination: Connector): string[] {
  const reasons: string[] = []
  if (!source.source) reasons.push(`${source.name} cannot be a source`)
  if (!destination.destination) reasons.push(`${destination.name} cannot be a destination`)
  if (!categoriesFit(source, destination)) {
    reasons.push(`${source.dataTypeCategory} data cannot go to ${destination.dataTypeCategory}`)
  }
  return reasons
}

function categoriesFit({ dataTypeCategory: from }: Connector, { dataTypeCategory: to }: Connector): boolean {
  if (from === 'data store' || to === 'data store') return true
  if (from === 'identity management' && to === 'audience activation') return true
  return from === to
}
