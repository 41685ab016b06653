import { createHash } from 'node:crypto'
import { type Connector, ecapiFields } from '@penstock/connector'
import { applyEcapi } from '@penstock/engine'
import type { MappingTemplateDetails } from '@penstock/wire'
import type { Catalogue } from '../connectors/catalogue.ts'

/**
 * Templates that belong to nobody: the mapping of the standard ECAPI to each destination of conversions. They follow from the facts
 * of a destination, so they are not stored, and nobody can change them.
 */

const ecapiName = 'ECAPI 1.0'
/** The day on which the standard was published. */
const published = Date.UTC(2026, 2, 27) / 1000

/** The identifier of the template of a destination, the same in every deployment. */
const idOf = ({ slug }: Connector): string =>
  createHash('sha256').update(`template:ecapi-1.0:${slug}`).digest('hex').slice(0, 16)

/** The destination whose standard template has an identifier. */
export const standardTarget = ({ all }: Catalogue, id: string): Connector | undefined =>
  all.find((connector) => connector.destination?.ecapi && idOf(connector) === id)

/** The standard templates for a destination whose names contain a text. */
export function standardTemplates(catalogue: Catalogue, connectorId: string, text = ''): MappingTemplateDetails[] {
  const connector = catalogue.find(connectorId)
  const isFound = ecapiName.toLowerCase().includes(text.trim().toLowerCase())
  return connector?.destination?.ecapi && isFound ? [viewStandard(connector)] : []
}

/** The template with the names of the standard. */
export function viewStandard(connector: Connector): MappingTemplateDetails {
  const mapping = applyEcapi(connector, Object.keys(ecapiFields))?.mapping ?? {}
  return {
    id: idOf(connector),
    name: ecapiName,
    accountId: null,
    builtIn: true,
    destConnectorId: connector.id,
    destConnectorName: connector.name,
    srcConnectorId: null,
    fields: Object.values(mapping).filter((entry) => entry !== null).length,
    createdBy: null,
    createdTime: published,
    updatedTime: published,
    mapping: JSON.stringify(mapping),
  }
}
