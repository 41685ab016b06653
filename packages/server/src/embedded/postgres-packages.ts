import type { AddedPackage } from './added-packages.ts'

/** Packages with PostgreSQL, one for each platform, that may be added: none here, since npm installs them. The build of the published package replaces this module. */
export const postgresPackages: readonly AddedPackage[] = []
