import { join } from 'node:path'

/**
 * Errors of loading code: a file is missing, changed or only half written, as during an upgrade of a running service. The
 * connection is not the cause: another worker, or this worker later, can do the same work.
 */

const codes = new Set([
  'ERR_MODULE_NOT_FOUND',
  'MODULE_NOT_FOUND',
  'ERR_UNSUPPORTED_DIR_IMPORT',
  'ERR_INVALID_PACKAGE_CONFIG',
  'ERR_INVALID_PACKAGE_TARGET',
  'ERR_PACKAGE_PATH_NOT_EXPORTED',
  'ERR_PACKAGE_IMPORT_NOT_DEFINED',
  'ERR_UNKNOWN_FILE_EXTENSION',
  'ERR_INVALID_TYPESCRIPT_SYNTAX',
  'ERR_DLOPEN_FAILED',
])
/** An error that the loader of Node met, or that a module threw while it was loaded. */
const loaderFrame = /node:internal\/modules\/(?:esm|cjs)\//

/** The folder of the connectors that the operator added. */
let addedConnectors: string | undefined
export function noteAddedConnectors(folder: string): void {
  addedConnectors = folder
}

function isOfLoading(error: unknown): error is Error {
  if (!(error instanceof Error)) return false
  // Our own code looked for code.
  if (error.name === 'CodeNotLoaded') return true
  return codes.has(codeOf(error) ?? '') || loaderFrame.test(error.stack ?? '')
}

/** Whether it names a file of a connector that the operator added. */
const isOfAdded = ({ message, stack = '' }: Error): boolean =>
  addedConnectors !== undefined && `${message}\n${stack}`.includes(addedConnectors)

/** The slug and the folder of the added connector that an error of loading names. */
export function addedConnectorOf({ message, stack = '' }: Error): { slug: string; place: string } {
  const text = `${message}\n${stack}`
  const folder = addedConnectors ?? ''
  const at = text.indexOf(folder) + folder.length
  const [, slug = ''] = /^[/\\]([a-z0-9-]+)/.exec(text.slice(at)) ?? []
  return { slug, place: join(folder, slug) }
}

const codeOf = (error: Error) => (error as NodeJS.ErrnoException).code

/** Whether code of Penstock, or of a package that it depends on, could not be loaded. */
export const isUnloadable = (error: unknown): boolean => isOfLoading(error) && !isOfAdded(error)

/** Whether code of a connector that the operator added could not be loaded. */
export const isUnloadableConnector = (error: unknown): error is Error => isOfLoading(error) && isOfAdded(error)
