import { ConnectorError } from '../connector-error.ts'
import { contentOf } from './content.ts'
import { openBytes } from './open-bytes.ts'
import type { FileStore } from './store.ts'

/**
 * The sheets of the first file of a store, in the order of names, which has to be an Excel workbook; hidden ones last.
 * @throws a `ConnectorError`: `invalid_setting` if it is none, what the store throws, and for damaged workbooks
 */
export async function discoverableSheets(
  store: FileStore,
  signal: AbortSignal,
): Promise<{ readonly name: string; readonly hidden: boolean }[]> {
  const [file] = [...(await store.list())].sort((a, b) => (a.name < b.name ? -1 : 1))
  if (!file) throw new ConnectorError('object_not_found', 'There is no file to read.')
  const stream = await openBytes(store, file, signal)
  const content = await contentOf(stream, file, { format: 'auto' }).finally(() => stream.close())
  if (content !== 'Excel') {
    throw new ConnectorError(
      'invalid_setting',
      `${file.name} is ${content}, which has no sheets. Leave the sheet empty.`,
    )
  }
  const { sheetsOf } = await import('./excel-read.ts')
  return sheetsOf(store, file, signal)
}
