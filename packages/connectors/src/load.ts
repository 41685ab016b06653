import type { Connector } from '@penstock/connector'
import { importConnector } from './connector-files.ts'
import type { ProgramWall } from './programs/wall.ts'

const noWall: ProgramWall = { kind: 'off', why: 'Programs are off in this process.' }
const loaded = new Map<string, Promise<Connector>>()

/**
 * Loads one connector by its slug, without the rest of the catalogue.
 * @param installed the folder of the connectors that the operator added; by default there is no such folder
 * @param wall isolates programs from each other; without it, programs do not run
 * @throws Error if the catalogue has no such connector, ConnectorError as `loadInstalled` does
 */
export function loadConnector(slug: string, installed?: string, wall?: ProgramWall): Promise<Connector> {
  const known = loaded.get(slug)
  if (known) return known
  const loading = findConnector(slug, installed, wall)
  loaded.set(slug, loading)
  // Its files can come back.
  loading.catch(() => loaded.delete(slug))
  return loading
}

async function findConnector(slug: string, installed?: string, wall: ProgramWall = noWall): Promise<Connector> {
  const module = await importOwn(slug)
  if (!module && installed !== undefined)
    return (await import('./installed/load-installed.ts')).loadInstalled(installed, slug, wall)
  if (!module) throw new Error(`The catalogue has no connector ${slug}`)
  const found = Object.values(module).find((value) => isConnector(value, slug))
  if (!found) throw new Error(`The file of the connector ${slug} does not define it`)
  return found as Connector
}

/** An error of the system, such as too many open files, is named as one of loading: it says nothing about the connection. */
async function importOwn(slug: string): Promise<Record<string, unknown> | undefined> {
  try {
    return await importConnector(slug)
  } catch (error) {
    const { code, syscall } = error as NodeJS.ErrnoException
    if (syscall === undefined) throw error
    const message = `The code of the connector ${slug} cannot be read (${code}).`
    throw Object.assign(new Error(message, { cause: error }), { name: 'CodeNotLoaded', code })
  }
}

const isConnector = (value: unknown, slug: string): boolean =>
  typeof value === 'object' && value !== null && 'slug' in value && value.slug === slug && 'integrated' in value
