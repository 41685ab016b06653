import type { DataTypeCategory, SupportedType } from './terms.ts'

/** Which connectors can be paired. The server decides by this and the console explains by it; there is no second rule. */

/**
 * The properties of a connector that this rule uses. The connectors of the kit, and all entries of lists in responses,
 * have them.
 */
export type PairedConnector = {
  readonly name: string
  readonly dataTypeCategory: DataTypeCategory
  readonly supportedType: SupportedType
}

/**
 * Why a source and a destination cannot be paired, one sentence each; none if they fit (invariant 2).
 * The roles must fit and so must the categories: a data store feeds and takes everything, identity management feeds
 * audience activation, and otherwise both are of one category.
 */
export function incompatibilities(source: PairedConnector, destination: PairedConnector): string[] {
  const reasons: string[] = []
  if (source.supportedType === 'Destination') reasons.push(`${source.name} cannot be a source`)
  if (destination.supportedType === 'Source') reasons.push(`${destination.name} cannot be a destination`)
  if (!categoriesFit(source.dataTypeCategory, destination.dataTypeCategory)) {
    reasons.push(`${source.dataTypeCategory} data cannot go to ${destination.dataTypeCategory}`)
  }
  return reasons
}

function categoriesFit(from: DataTypeCategory, to: DataTypeCategory): boolean {
  if (from === 'data store' || to === 'data store') return true
  if (from === 'identity management' && to === 'audience activation') return true
  return from === to
}
