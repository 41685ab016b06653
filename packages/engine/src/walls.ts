import { getCompileCacheDir } from 'node:module'
import { dirname, join } from 'node:path'

/** Methods of Node that its types do not declare yet. */
type Permission = { drop(scope: 'worker' | 'fs.write', path?: string): void }

/**
 * Gives up, permanently, what this process was permitted only to begin: to start threads, whose code could have any permission, and
 * to write where Node keeps what it compiled, without which Node does not read it either. Called once the guard of this process
 * runs, and before anything of a tenant is read.
 */
export function closeWalls(): void {
  const permission = process.permission as unknown as Permission | undefined
  permission?.drop('worker')
  const compiled = getCompileCacheDir()
  if (compiled !== undefined) permission?.drop('fs.write', join(dirname(compiled), '*'))
}
