import { type ConnectorContext, checkSteps } from '@penstock/connector'
import { assertConnectivity } from '../platform-api/call.ts'
import { advertiserOf } from './audience-directory.ts'
import { openTikTok, tiktokOrigin } from './business-api.ts'

/** Lists audiences of the advertiser, which changes nothing. */
export async function assertAudiences(context: ConnectorContext): Promise<void> {
  const client = openTikTok(context)
  const advertiser = await advertiserOf(context, client)
  await client.askObject({
    path: '/dmp/custom_audience/list/',
    query: { advertiser_id: advertiser, page: '1', page_size: '1' },
  })
}

export const checkAudiences = checkSteps(
  ['connectivity', (context) => assertConnectivity(context, `${tiktokOrigin}/`)],
  [
    'authentication',
    async (context) => {
      await openTikTok(context).askObject({ path: '/user/info/' })
      return 'TikTok accepts the access token.'
    },
  ],
  [
    'permissions',
    async (context) => {
      if (context.settings.advertiserId === undefined) {
        return 'Nothing to check until a connection has an advertiser.'
      }
      await assertAudiences(context)
      return 'The token has access to the audiences of the advertiser.'
    },
  ],
)
