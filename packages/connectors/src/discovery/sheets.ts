import type { DiscoveredPage, DiscoveryContext } from '@penstock/connector'
import { discoverableSheets, type FileStore } from '@penstock/connector/files'
import { pageOfAll } from './pages.ts'

/** The sheets or tables of the first file of a store. @throws a `ConnectorError` if it is neither a workbook nor a database */
export async function discoverSheets(context: DiscoveryContext, store: FileStore): Promise<DiscoveredPage> {
  try {
    const sheets = await discoverableSheets(store, context.signal)
    return pageOfAll(
      sheets.map(({ name, kind, hidden }) => ({
        value: name,
        kind,
        ...(hidden ? { label: `${name} (hidden)` } : {}),
      })),
      context,
    )
  } finally {
    await store.close?.().catch(() => {})
  }
}
