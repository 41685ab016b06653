import { type Check, type ConnectorContext, checkSteps } from '@penstock/connector'
import { assertConnectivity } from '../platform-api/call.ts'
import { advertiserOf, searchBody } from './contact-lists.ts'
import { criteoOrigin, openCriteo } from './criteo-api.ts'

/** Whether contact lists can be read: those of the advertiser, where the connection names one. */
export async function assertAudiences(context: ConnectorContext): Promise<string> {
  await openCriteo(context).askObject({
    method: 'POST',
    path: '/audience-segments/search',
    query: { limit: '1', offset: '0' },
    body: searchBody({ advertiser: advertiserOf(context.settings) }),
    repeatable: true,
  })
  return 'The app may read contact lists.'
}

export const checkCriteo: Check = checkSteps(
  ['connectivity', (context) => assertConnectivity(context, `${criteoOrigin}/`)],
  [
    'authentication',
    async (context) => {
      await openCriteo(context).tokens.token()
      return 'Criteo accepts the app and the refresh token.'
    },
  ],
  ['permissions', assertAudiences],
)
