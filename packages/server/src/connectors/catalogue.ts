import { createHash } from 'node:crypto'
import { type Connector, ConnectorError, type Platform } from '@penstock/connector'
import * as own from '@penstock/connectors'
import { type Installed, readInstalled } from '@penstock/connectors/installed'
import { type CatalogueEntry, connectorStatus, type QueryOf, type Connector as WireConnector } from '@penstock/wire'

/** The catalogue as this deployment serves it: the connectors of `@penstock/connectors` and the operator's own, with addresses of its own. */
export type Catalogue = {
  /** Connectors that can be added, by name. */
  readonly listed: readonly Connector[]
  /** The same with withdrawn ones, which accounts may still hold. */
  readonly all: readonly Connector[]
  /** Any connector, also a withdrawn one that accounts may still hold. */
  find(id: string): Connector | undefined
  /** Each platform that has a connector, once; by name. */
  readonly platforms: readonly Platform[]
  /**
   * The connector behind an identifier that the database holds.
   * @throws ConnectorError `connector_missing` if this process does not know it
   */
  known(id: string): Connector
  logo(connector: Connector): string
  view(connector: Connector): WireConnector
  etag(connector: Connector): string
  /** A page of the list, frozen; made once for each query, since the catalogue stays as it is while the process lives. */
  page(query: CatalogueQuery): CataloguePage
}

export type CatalogueQuery = QueryOf<'listConnectors'>
export type CataloguePage = { readonly reply: CatalogueEntry[]; readonly total: number }

const noneInstalled: Installed = { connectors: [], problems: [] }

/** How many pages are cached; when the cache is full, it is emptied. */
const pagesMax = 200

/** Connectors that the operator added to this deployment, as they are in its folder now. */
export const installedConnectors = ({ connectorsFolder }: { connectorsFolder: string }): Installed =>
  readInstalled(connectorsFolder, own)

/** @param installed connectors that the operator added; none unless given */
export function createCatalogue(publicUrl: string, { connectors: installed }: Installed = noneInstalled): Catalogue {
  const { connectors, listedConnectors, platforms, connectorById } =
    installed.length === 0
      ? own
      : own.makeCatalogue([...own.connectors, ...installed.map(({ connector }) => connector)])
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
    listed: listedConnectors,
    all: connectors,
    platforms,
    find: connectorById,
    known: (id) => {
      const connector = connectorById(id)
      if (connector) return connector
      throw new ConnectorError(
        'connector_missing',
        `This process does not know the connector ${id}, which was added since it started, or on another machine. Ask your operator to add it on every machine (penstock connector add) and to restart Penstock there.`,
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
      const page = pickPage(listedConnectors, query)
      pages.set(key, page)
      return page
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
 * The connectors whose names contain a text; if none has it, those of platforms that people also call so, such as `facebook`, or
 * look for by a word for what they hold, such as `csv`.
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
