import { type Check, type ConnectorContext, ConnectorError, checkSteps } from '@penstock/connector'
import { assertConnectivity } from '../platform-api/call.ts'
import { listIn } from '../platform-api/json.ts'
import { accountPath, openPinterest, pinterestOrigin } from './pinterest-api.ts'

/** Whether the ad account of the connection is seen, or any where none is named. */
export async function assertAccount(context: ConnectorContext): Promise<string> {
  const pinterest = openPinterest(context)
  const { adAccountId } = context.settings
  if (adAccountId !== undefined) {
    await pinterest.askObject({ path: accountPath(adAccountId) })
    return 'The credentials have access to the ad account.'
  }
  const { json } = await pinterest.askObject({ path: '/ad_accounts', query: { page_size: '1' } })
  if (listIn(json.items).length > 0) return 'The credentials have access to an ad account.'
  throw new ConnectorError(
    'permission_denied',
    'The credentials have no access to an ad account at Pinterest; give their user a role on one.',
  )
}

export const checkPinterest: Check = checkSteps(
  ['connectivity', (context) => assertConnectivity(context, `${pinterestOrigin}/`)],
  [
    'authentication',
    async (context) => {
      await openPinterest(context).askObject({ path: '/ad_accounts', query: { page_size: '1' } })
      return 'Pinterest accepts the credentials.'
    },
  ],
  ['permissions', assertAccount],
)
