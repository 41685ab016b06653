import type { DiscoveredPage, DiscoveryContext } from '@penstock/connector'
import { discoverableSheets, type FileStore } from '@penstock/connector/files'
import { pageOfAll } from './pages.ts'

/** The sheets of the first Excel workbook among the files of a store. @throws a `ConnectorError` if there is none */
export async function discoverSheets(context: DiscoveryContext, store: FileStore): Promise<DiscoveredPage> {
  try {
    const sheets = await discoverableSheets(store, context.signal)
    return pageOfAll(
      sheets.map(({ name, hidden }) => ({
        value: name,
        kind: 'sheet',
        ...(hidden ? { label: `${name} (hidden)` } : {}),
      })),
      context,
    )
  } finally {
    await store.close?.().catch(() => {})
  }
}
