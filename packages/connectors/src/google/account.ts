import type { ConnectorContext } from '@penstock/connector'
import { type ServiceAccount, serviceAccount } from './service-account.ts'
import { federatedAccount } from './workload-identity.ts'

/**
 * Signs in as the settings of a connector say: with the key of a service account, or without a key.
 * @param scope the scope of the tokens, as Google names it
 */
export const googleAccount = (context: ConnectorContext, scope: string): ServiceAccount =>
  context.secrets.authType === 'workload-identity'
    ? federatedAccount(context, scope)
    : serviceAccount(context, context.secrets.jsonKey, scope)
