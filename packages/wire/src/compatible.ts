import type { DataTypeCategory, SupportedType } from './terms.ts'

/** Which connectors can be paired. The server and the console use this one rule. */

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
 * Why a source and a destination cannot be paired, one sentence for each reason; empty if they can (invariant 2). The roles and
 * the categories must be compatible: a data store is compatible with everything, identity management is a source for audience
 * activation, and otherwise both categories must be equal.
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
