/**
 * Files and folders that the service reads while it runs, in addition to its modules: the locations in the repository. In the
 * published package, `packages/server/packaged/places.ts` replaces this module.
 */
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'

/** The folder of the migrations. */
export const migrationsFolder = fileURLToPath(new URL('../migrations/', import.meta.url))

/** The guides, with their pictures. */
export const guidesFolder = new URL('../../../docs/', import.meta.url)

/** Stylesheets and scripts of the pages of the documentation. */
export const pageFilesFolder = new URL('documents/', import.meta.url)

/** The main module of a runner. */
export const runnerProgram = fileURLToPath(import.meta.resolve('@penstock/engine/runner'))

/** The program that compiles what runners load. */
export const compileProgram = fileURLToPath(import.meta.resolve('@penstock/engine/compile'))

/** The program that says which connector a package defines. */
export const probeProgram = fileURLToPath(import.meta.resolve('@penstock/engine/probe'))

/** The module that is loaded before the tests of a package. */
export const testKitProgram = fileURLToPath(import.meta.resolve('@penstock/engine/test-kit'))

/** Packages of runners: their own code and its dependencies. The service's own code is not included. */
const packages = [
  '@penstock/engine',
  '@penstock/connectors',
  '@penstock/connector',
  '@penstock/expressions',
  '@penstock/parquet',
  '@penstock/wire',
]

/** Folders that runners read: their code, and the folders of packages that they can use. */
export function runnerFolders(): string[] {
  const folders = packages.map((name) => dirname(dirname(fileURLToPath(import.meta.resolve(name)))))
  const [engine = ''] = folders
  return [...folders, ...ancestorsOf(engine).map((folder) => join(folder, 'node_modules'))]
}

const ancestorsOf = (folder: string): string[] =>
  dirname(folder) === folder ? [] : [dirname(folder), ...ancestorsOf(dirname(folder))]
