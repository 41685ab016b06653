import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import type { Connector } from '@penstock/connector'
import type { ProgramWall } from '../programs/wall.ts'
import { readInstalledConnector, readRecord } from './installed.ts'
import { missingConnector } from './missing-connector.ts'
import { readManifest } from './package-manifest.ts'
import { useKit } from './use-kit.ts'

/**
 * Loads the code of a connector that the operator added.
 * @param folder the folder of the deployment that has added connectors
 * @param wall what keeps a program from others
 * @throws ConnectorError `connector_missing` if this machine does not have it, or it cannot be loaded
 */
export async function loadInstalled(folder: string, slug: string, wall: ProgramWall): Promise<Connector> {
  try {
    const record = readRecord(folder, slug)
    const { main = '', program } = record
    if (program)
      return (await import('../programs/program-connector.ts')).programConnector(
        readInstalledConnector(record, []),
        program,
        wall,
      )
    // Runners of programs can start processes, and so could the code of a package in such a runner.
    if (wall.kind !== 'user' && process.permission?.has('child'))
      throw new Error('a package cannot share a connection with a program on this machine')
    useKit()
    const found = connectorsOf(await importPackage(join(folder, slug, 'code', main)))
    const connector = found.find((one) => one.slug === slug)
    if (connector) return connector
    throw new Error('its code does not define it any more')
  } catch (error) {
    throw missingConnector(slug, join(folder, slug), reasonOf(error), error)
  }
}

function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return `its code threw ${String(error)}`
  const { message, code } = error as NodeJS.ErrnoException
  return (code ?? message).replace(/\.$/, '')
}

/**
 * Imports the module that a package exports under its own name.
 * @param root the folder of the package
 * @throws Error if there is no such module, or it throws
 */
export async function importPackage(root: string): Promise<Record<string, unknown>> {
  return import(pathToFileURL(join(root, entryOf(root))).href)
}

/** The file that `import` of the package gets: of `exports` under `.`, else of `main`, else `index.js`. */
function entryOf(root: string): string {
  const { exports, main } = readManifest(root)
  const entry = conditionOf(exports) ?? main ?? 'index.js'
  if (typeof entry !== 'string') throw new Error('its package.json does not say which file to import')
  return entry
}

function conditionOf(exports: unknown): unknown {
  if (typeof exports !== 'object' || exports === null) return exports
  const { '.': own, node, import: esm, default: any } = exports as Record<string, unknown>
  return conditionOf(own ?? node ?? esm ?? any)
}

/** The connectors that a module exports, each once. */
export const connectorsOf = (module: Readonly<Record<string, unknown>>): readonly Connector[] => [
  ...new Set(Object.values(module).filter(isConnector)),
]

const isConnector = (value: unknown): value is Connector =>
  typeof value === 'object' && value !== null && 'slug' in value && 'supportedType' in value && 'platformId' in value
