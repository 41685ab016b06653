import type { Connector } from '@penstock/connector'
import { importConnector } from './connector-files.ts'

const loaded = new Map<string, Promise<Connector>>()

/** Loads one connector by its slug, without the rest of the catalogue. Throws if there is none. */
export function loadConnector(slug: string): Promise<Connector> {
  const known = loaded.get(slug)
  if (known) return known
  const loading = findConnector(slug)
  loaded.set(slug, loading)
  return loading
}

async function findConnector(slug: string): Promise<Connector> {
  const module = await importConnector(slug)
  if (!module) throw new Error(`The catalogue has no connector ${slug}`)
  const found = Object.values(module).find((value) => isConnector(value, slug))
  if (!found) throw new Error(`The file of the connector ${slug} does not define it`)
  return found as Connector
}

const isConnector = (value: unknown, slug: string): boolean =>
  typeof value === 'object' && value !== null && 'slug' in value && value.slug === slug && 'integrated' in value
