import { existsSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import type { Connector } from '@penstock/connector'

const loaded = new Map<string, Promise<Connector>>()

/** Loads one connector by its slug, without the rest of the catalogue. Throws if there is none. */
export function loadConnector(slug: string): Promise<Connector> {
  const known = loaded.get(slug)
  if (known) return known
  const loading = findConnector(slug)
  loaded.set(slug, loading)
  return loading
}

/** A connector's file is named after it, in the folder of its platform. */
async function findConnector(slug: string): Promise<Connector> {
  const folder = /^[a-z0-9-]+$/.test(slug)
    ? folders().find((name) => existsSync(join(import.meta.dirname, name, `${slug}.ts`)))
    : undefined
  if (folder === undefined) throw new Error(`The catalogue has no connector ${slug}`)
  const file = `./${folder}/${slug}.ts`
  const module: Record<string, unknown> = await import(file)
  const found = Object.values(module).find((value) => isConnector(value, slug))
  if (!found) throw new Error(`${file} does not define the connector ${slug}`)
  return found as Connector
}

const folders = (): string[] =>
  readdirSync(import.meta.dirname, { withFileTypes: true })
    .filter((entry) => entry.isDirectory())
    .map(({ name }) => name)

const isConnector = (value: unknown, slug: string): boolean =>
  typeof value === 'object' && value !== null && 'slug' in value && value.slug === slug && 'integrated' in value
