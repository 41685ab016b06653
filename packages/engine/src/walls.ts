import { getCompileCacheDir } from 'node:module'
import { dirname, join } from 'node:path'

/** Methods of Node that its types do not declare yet. */
type Permission = { drop(scope: 'worker' | 'fs.write', path?: string): void }

/**
 * Permanently gives up the permissions that this process needed only to start: to start threads, whose code could have any
 * permission, and to write to the compile cache of Node (without which Node does not read the cache either). Called after the
 * guard of this process runs, and before any data of a tenant is read.
 */
export function closeWalls(): void {
  const permission = process.permission as unknown as Permission | undefined
  permission?.drop('worker')
  const compiled = getCompileCacheDir()
  if (compiled !== undefined) permission?.drop('fs.write', join(dirname(compiled), '*'))
}
