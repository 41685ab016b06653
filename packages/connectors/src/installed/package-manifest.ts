import { readFileSync } from 'node:fs'
import { join } from 'node:path'

/** A package as it describes itself. */
export type PackageManifest = {
  readonly name?: unknown
  readonly version?: unknown
  readonly main?: unknown
  readonly exports?: unknown
  readonly dependencies?: Readonly<Record<string, unknown>>
  readonly peerDependencies?: Readonly<Record<string, unknown>>
}

/** The `package.json` in a folder. */
export const readManifest = (root: string): PackageManifest =>
  JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'))
