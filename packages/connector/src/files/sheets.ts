import { ConnectorError } from '../connector-error.ts'
import { contentOf } from './content.ts'
import { loadDuckdbReader } from './duckdb/load.ts'
import { openBytes } from './open-bytes.ts'
import type { FileStore } from './store.ts'

/** A sheet of an Excel workbook, or a table of a DuckDB database. */
export type FileSheet = { readonly name: string; readonly kind: 'sheet' | 'table'; readonly hidden: boolean }

/**
 * The sheets of the first file of a store by name, which must be an Excel workbook or a DuckDB database; hidden sheets last.
 * @throws a `ConnectorError`: `invalid_setting` if it is another file, errors of the store, and for damaged files
 */
export async function discoverableSheets(store: FileStore, signal: AbortSignal): Promise<FileSheet[]> {
  const [file] = [...(await store.list())].sort((a, b) => (a.name < b.name ? -1 : 1))
  if (!file) throw new ConnectorError('object_not_found', 'There is no file to read.')
  const stream = await openBytes(store, file, signal)
  try {
    const content = await contentOf(stream, file, { format: 'auto' })
    if (content === 'DuckDB') {
      const { duckdbTables } = await loadDuckdbReader()
      return (await duckdbTables(stream, file)).map((name) => ({ name, kind: 'table', hidden: false }))
    }
    if (content !== 'Excel') {
      const message = `${file.name} is ${content}, which has no sheets. Clear the setting for the sheet.`
      throw new ConnectorError('invalid_setting', message)
    }
  } finally {
    await stream.close()
  }
  const { sheetsOf } = await import('./excel-read.ts')
  return (await sheetsOf(store, file, signal)).map(({ name, hidden }) => ({ name, kind: 'sheet', hidden }))
}
