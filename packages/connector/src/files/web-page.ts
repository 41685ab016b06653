import { ConnectorError } from '../connector-error.ts'
import type { StoredFile } from './store.ts'

const pageStart = /^\s*<(?:!doctype\s+html|html)[\s>]/i

/**
 * Refuses a web page instead of a file of rows: servers send sign-in pages and error pages, often under the name of the file.
 * @param start some of the file's first characters
 * @throws a `ConnectorError`, `invalid_file`
 */
export function assertNoPage({ name }: StoredFile, start: string): void {
  if (!pageStart.test(start.slice(0, 1_000))) return
  const message = `${name} is a web page (HTML), probably a sign-in page or an error page. Check the address and the access to the file.`
  throw new ConnectorError('invalid_file', message)
}
