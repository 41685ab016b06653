import type { AddedPackage } from './added-packages.ts'

/**
 * Packages with PostgreSQL that can be added, one for each platform. Empty here, since npm installs them. The build of the
 * published package replaces this module.
 */
export const postgresPackages: readonly AddedPackage[] = []
