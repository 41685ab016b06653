import { type Check, checkSteps } from '@penstock/connector'
import { assertConnectivity } from '../platform-api/call.ts'
import { openMarketingCloud, originOf, subdomainOf } from './marketing-cloud-api.ts'

const unknown = 'The connector has no subdomain; each connection uses the credentials with its own.'

export const checkMarketingCloud: Check = checkSteps(
  [
    'connectivity',
    async (context) => {
      const subdomain = subdomainOf(context)
      return subdomain === undefined ? unknown : await assertConnectivity(context, `${originOf(subdomain)}/`)
    },
  ],
  [
    'permissions',
    async (context) => {
      if (subdomainOf(context) === undefined) return unknown
      const query = { $page: '1', $pagesize: '1' }
      await openMarketingCloud(context).askObject({ path: '/data/v1/customobjects', query })
      return 'Marketing Cloud accepts the credentials and shows data extensions.'
    },
  ],
)
