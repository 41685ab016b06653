import { checkSteps, type DiscoveredPage, type DiscoveryContext } from '@penstock/connector'
import { pageOfAll } from '../discovery/pages.ts'
import { assertConnectivity } from '../platform-api/call.ts'
import { openCampaign, originOf, tokensOf } from './campaign-api.ts'
import { tableIdOf } from './relational-rows.ts'

/** Tries the pod, the refresh token, and whether the tables are visible, or the table of a connection. */
export const checkAcoustic = checkSteps(
  ['connectivity', (context) => assertConnectivity(context, `${originOf(context)}/`)],
  [
    'authentication',
    async (context) => {
      await tokensOf(context).token()
      return 'Acoustic accepts the refresh token.'
    },
  ],
  [
    'permissions',
    async (context) => {
      const campaign = openCampaign(context)
      if (context.settings.tableId === undefined) {
        return `The user sees ${(await campaign.tables()).length} relational tables.`
      }
      const { columns } = await campaign.table(tableIdOf(context.settings))
      return `The user sees the table, which has ${columns.length} columns.`
    },
  ],
)

/** The relational tables that the user sees. */
export async function discoverTables(context: DiscoveryContext): Promise<DiscoveredPage> {
  const tables = await openCampaign(context).tables()
  const found = tables.map(({ id, name }) => ({ value: id, kind: 'table' as const, ...(name && { label: name }) }))
  return pageOfAll(found, context)
}

/** The columns of the table in the settings. */
export async function discoverColumns(context: DiscoveryContext): Promise<DiscoveredPage> {
  const { columns, keys } = await openCampaign(context).table(tableIdOf(context.settings))
  const found = columns.map(({ name }) => {
    const key = keys.includes(name)
    return { value: name, kind: 'column' as const, key, required: key }
  })
  return pageOfAll(found, context)
}
