import type { Discovered, DiscoveredPage, DiscoveryContext } from '@penstock/connector'
import { discoverableColumns, type FileStore, type ReadOptions } from '@penstock/connector/files'
import { pageOfAll, windowOf } from './pages.ts'

/** The columns of the files of a store, which it closes. @throws a `ConnectorError` as reading the files does */
export async function discoverFileColumns(
  context: DiscoveryContext,
  store: FileStore,
  options: ReadOptions,
): Promise<DiscoveredPage> {
  try {
    // An invalid cursor is refused before a file is read.
    windowOf(context)
    const columns = await discoverableColumns(store, options, context.signal)
    return pageOfAll(
      columns.map(
        ({ name, type, values }): Discovered => ({
          value: name,
          kind: 'column',
          ...(type === undefined ? {} : { type }),
          ...(context.withSamples ? { samples: values } : {}),
        }),
      ),
      context,
    )
  } finally {
    await store.close?.().catch(() => {})
  }
}
