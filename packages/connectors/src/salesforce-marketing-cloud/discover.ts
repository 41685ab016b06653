import { ConnectorError, type DiscoveredPage, type DiscoveryContext } from '@penstock/connector'
import { pageOfAll } from '../discovery/pages.ts'
import { discovered } from '../kit/run/discover.ts'
import { textIn } from '../platform-api/json.ts'
import { columnsOf, readDataExtensions } from './data-extensions.ts'
import { openMarketingCloud } from './marketing-cloud-api.ts'

/** Data extensions of the business unit, by their keys. */
export async function discoverDataExtensions(context: DiscoveryContext): Promise<DiscoveredPage> {
  const client = await openMarketingCloud(context)
  const about = { kind: 'table', id: /./s, cursor: /^\d{1,9}$/ } as const
  return discovered(context, about, async (page) => {
    const { items, next } = await readDataExtensions(client, context.search, page)
    return { items: items.map((one) => ({ id: one?.key, name: one?.name })), next }
  })
}

/** Columns of the data extension. */
export async function discoverColumns(context: DiscoveryContext): Promise<DiscoveredPage> {
  const key = textIn(context.settings.dataExtensionKey)
  if (key === undefined) throw new ConnectorError('invalid_setting', 'Set “Data extension key” first.')
  return pageOfAll(await columnsOf(await openMarketingCloud(context), key), context)
}
