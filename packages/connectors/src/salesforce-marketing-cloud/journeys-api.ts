import { type ConnectorContext, ConnectorError } from '@penstock/connector'
import { type RestApi, restApi } from '../kit/api.ts'
import { objectIn } from '../platform-api/json.ts'
import { originOf, subdomainOf } from './tenant.ts'

type Tenant = Pick<ConnectorContext, 'secrets' | 'settings'>

/** The subdomain of the tenant. Throws `invalid_setting` if it is missing or not valid. */
export function tenantOf(context: Tenant): string {
  const subdomain = subdomainOf(context)
  if (subdomain !== undefined) return subdomain
  throw new ConnectorError('invalid_setting', 'Subdomain is missing; enter it in the connector.')
}

/** The API of journeys, of a tenant. Throws like `tenantOf`. */
export const journeysApi = (context: Tenant): RestApi =>
  restApi({
    name: 'Marketing Cloud',
    baseUrl: `${originOf(tenantOf(context))}/interaction/v1`,
    errors: {
      codeAt: 'errorcode',
      statuses: {
        400: 'invalid_batch',
        403: [
          'permission_denied',
          'Give the installed package the scope Journeys Execute, and access to the business unit.',
        ],
        404: ['object_not_found', 'Check the subdomain.'],
      },
      // It is busy, and no event is to blame.
      special: ({ status, json }) =>
        status === 400 && Number(objectIn(json).errorcode) === 10006 ? 'platform_error' : undefined,
    },
  })
