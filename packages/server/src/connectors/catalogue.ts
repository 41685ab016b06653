import { createHash } from 'node:crypto'
import { type Connector, ConnectorError, type Platform } from '@penstock/connector'
import * as own from '@penstock/connectors'
import { type CatalogueEntry, connectorStatus, type QueryOf, type Connector as WireConnector } from '@penstock/wire'

/**
 * The catalogue as this deployment serves it: the connectors of `@penstock/connectors` and the operator's own, with the
 * addresses of this deployment.
 */
export type Catalogue = {
  /** Connectors that can be added, by name. Like `all` and `platforms`, another list once connectors were added or removed. */
  readonly listed: readonly Connector[]
  /** The same, including withdrawn connectors, which accounts can still have. */
  readonly all: readonly Connector[]
  /** Any connector, including withdrawn connectors, which accounts can still have. */
  find(id: string): Connector | undefined
  /** Each platform that has a connector, without duplicates, by name. */
  readonly platforms: readonly Platform[]
  /**
   * The connector behind an identifier that the database holds.
   * @throws ConnectorError `connector_missing` if this process does not know it
   */
  known(id: string): Connector
  logo(connector: Connector): string
  view(connector: Connector): WireConnector
  etag(connector: Connector): string
  /** A page of the list, frozen. It is created once for each query, until connectors are added or removed. */
  page(query: CatalogueQuery): CataloguePage
}

/** A catalogue whose added connectors can change while the process lives. */
export type LiveCatalogue = Catalogue & {
  /** Replaces the connectors that the operator added. */
  setAdded(connectors: readonly Connector[]): void
}

export type CatalogueQuery = QueryOf<'listConnectors'>
export type CataloguePage = { readonly reply: CatalogueEntry[]; readonly total: number }

/** How many pages are cached. When the cache is full, it is emptied. */
const pagesMax = 200

const withAdded = (added: readonly Connector[]) =>
  added.length === 0 ? own : own.makeCatalogue([...own.connectors, ...added])

/** @param added connectors that the operator added; by default no connectors */
export function createCatalogue(publicUrl: string, added: readonly Connector[] = []): LiveCatalogue {
  let current = withAdded(added)
  const pages = new Map<string, CataloguePage>()
  const logo = ({ platform }: Connector) => `${publicUrl}/logos/${platform.slug}.svg`
  const view = (connector: Connector): WireConnector => ({
    ...identity(connector),
    integrated: connector.integrated,
    logo: logo(connector),
    docUrl: `${publicUrl}/docs/connectors/${connector.slug}`,
    overviewUrl: `${publicUrl}/docs/platforms/${connector.platform.slug}`,
    status: connectorStatus[connector.status ?? 'available'],
  })
  return {
    get listed() {
      return current.listedConnectors
    },
    get all() {
      return current.connectors
    },
    get platforms() {
      return current.platforms
    },
    find: (id) => current.connectorById(id),
    known: (id) => {
      const connector = current.connectorById(id)
      if (connector) return connector
      throw new ConnectorError(
        'connector_missing',
        `The database has no definition of the connector ${id}. Ask your operator to add it again, with the command \`connector add\` of Penstock.`,
      )
    },
    logo,
    view,
    etag: (connector) =>
      createHash('sha256')
        .update(JSON.stringify(view(connector)))
        .digest('hex')
        .slice(0, 16),
    page: (query) => {
      const { q, dataType, dataTypeCategory, platformType, supportedType, size, offset } = query
      const key = JSON.stringify([q, dataType, dataTypeCategory, platformType, supportedType, size, offset])
      const known = pages.get(key)
      if (known) return known
      if (pages.size === pagesMax) pages.clear()
      const page = pickPage(current.listedConnectors, query)
      pages.set(key, page)
      return page
    },
    setAdded: (connectors) => {
      current = withAdded(connectors)
      pages.clear()
    },
  }
}

function pickPage(
  listed: readonly Connector[],
  { q, dataType, dataTypeCategory, platformType, supportedType, size, offset }: CatalogueQuery,
): CataloguePage {
  const found = foundBy(listed, q).filter(
    (connector) =>
      (!dataType || connector.dataType === dataType) &&
      (!dataTypeCategory || connector.dataTypeCategory === dataTypeCategory) &&
      (!platformType || connector.platform.type === platformType) &&
      (!supportedType || connector.roles.includes(supportedType)),
  )
  const reply = found.slice(offset, offset + size).map(viewEntry)
  Object.freeze(reply)
  return { reply, total: found.length }
}

/** The fewest letters of a word by which people look for a platform that has another name. */
const wordLengthMin = 2

/**
 * The connectors whose names contain a text. If no name does, the connectors of platforms that have it as another name, such as
 * `facebook`, or that people search by a word for their content, such as `csv`.
 */
function foundBy(listed: readonly Connector[], q: string | undefined): readonly Connector[] {
  const named = listed.filter((connector) => isNamed(connector, q))
  const word = q?.trim().toLowerCase() ?? ''
  if (named.length > 0 || word.length < wordLengthMin) return named
  return listed.filter(({ platform }) => platform.alsoCalled?.some((name) => name.startsWith(word)))
}

/** Whether a `q` filter keeps a connector. */
export const isNamed = ({ name }: Connector, q: string | undefined) =>
  !q || name.toLowerCase().includes(q.toLowerCase())

/** Common properties of all representations of a connector. */
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
  transfer: connector.integrated,
})
