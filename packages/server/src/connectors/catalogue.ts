import { createHash } from 'node:crypto'
import type { Connector } from '@penstock/connector'
import { connectorById, connectors } from '@penstock/connectors'
import { type CatalogueEntry, connectorStatus, type Connector as WireConnector } from '@penstock/wire'

/** The catalogue as this deployment serves it: the connectors of `@penstock/connectors`, with addresses of its own. */
export type Catalogue = {
  /** Those that can be added, by name. */
  readonly listed: readonly Connector[]
  /** Any connector, also a withdrawn one that accounts may still hold. */
  find(id: string): Connector | undefined
  /** The connector behind an identifier that the database holds. Throws where this version does not know it. */
  known(id: string): Connector
  logo(connector: Connector): string
  viewEntry(connector: Connector): CatalogueEntry
  view(connector: Connector): WireConnector
  etag(connector: Connector): string
}

export function createCatalogue(publicUrl: string): Catalogue {
  const logo = ({ platform }: Connector) => `${publicUrl}/logos/${platform.slug}.svg`
  const view = (connector: Connector): WireConnector => ({
    ...identity(connector),
    integrated: isIntegrated(connector),
    logo: logo(connector),
    docUrl: `${publicUrl}/docs/connectors/${connector.slug}`,
    overviewUrl: `${publicUrl}/docs/platforms/${connector.platform.slug}`,
    status: connectorStatus[connector.status ?? 'available'],
  })
  return {
    listed: connectors.filter(({ status }) => status !== 'withdrawn'),
    find: connectorById,
    known: (id) => {
      const connector = connectorById(id)
      if (!connector)
        throw new Error(`The database holds connector ${id}, which this version of Penstock does not know`)
      return connector
    },
    logo,
    viewEntry,
    view,
    etag: (connector) =>
      createHash('sha256')
        .update(JSON.stringify(view(connector)))
        .digest('hex')
        .slice(0, 16),
  }
}

/** What every representation of a connector begins with. */
export const identity = (connector: Connector) => ({
  connectorId: connector.id,
  dataType: connector.dataType,
  dataTypeCategory: connector.dataTypeCategory,
  platformId: connector.platformId,
  name: connector.name,
  platformType: connector.platform.type,
  supportedType: connector.supportedType,
})

const viewEntry = (connector: Connector): CatalogueEntry => ({
  ...identity(connector),
  transfer: canTransfer(connector),
})

/** Whether data can be moved through the connector: a definition without code that moves it is a catalogue entry only. */
export const isIntegrated = (_connector: Connector): boolean => false

/** Whether a transfer can be started with the connector: it is integrated, and moves data in batches. */
export const canTransfer = (connector: Connector): boolean => isIntegrated(connector)
