import { checkSteps } from '@penstock/connector'
import { assertConnectivity } from '../platform-api/call.ts'
import { firstOne } from './data-extensions.ts'
import { openMarketingCloud } from './marketing-cloud-api.ts'
import { originOf, subdomainOf } from './tenant.ts'

const unknown = 'The connector has no subdomain; each connection uses the credentials with its own.'

export const checkMarketingCloud = checkSteps(
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
      await (await openMarketingCloud(context)).askObject(firstOne)
      return 'Marketing Cloud accepts the credentials and shows data extensions.'
    },
  ],
)
