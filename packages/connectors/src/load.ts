import type { Connector } from '@penstock/connector'
import { importConnector } from './connector-files.ts'

const loaded = new Map<string, Promise<Connector>>()

/**
 * Loads one connector by its slug, without the rest of the catalogue.
 * @param installed the folder of the connectors that the operator added; by default there are none
 * @throws Error if there is none in the catalogue, ConnectorError as `loadInstalled` does
 */
export function loadConnector(slug: string, installed?: string): Promise<Connector> {
  const known = loaded.get(slug)
  if (known) return known
  const loading = findConnector(slug, installed)
  loaded.set(slug, loading)
  return loading
}

async function findConnector(slug: string, installed: string | undefined): Promise<Connector> {
  const module = await importConnector(slug)
  if (!module && installed !== undefined)
    return (await import('./installed/load-installed.ts')).loadInstalled(installed, slug)
  if (!module) throw new Error(`The catalogue has no connector ${slug}`)
  const found = Object.values(module).find((value) => isConnector(value, slug))
  if (!found) throw new Error(`The file of the connector ${slug} does not define it`)
  return found as Connector
}

const isConnector = (value: unknown, slug: string): boolean =>
  typeof value === 'object' && value !== null && 'slug' in value && value.slug === slug && 'integrated' in value
