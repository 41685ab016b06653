import { type Check, type ConnectorContext, checkSteps, type Values } from '@penstock/connector'
import { assertConnectivity } from '../platform-api/call.ts'
import { type Accounts, accountName } from './accounts.ts'
import { dataManagerOrigin, openDataManager } from './data-manager.ts'

type AccountsOf = (settings: Values) => Accounts

const reach = (context: ConnectorContext) => assertConnectivity(context, `${dataManagerOrigin}/`)

const signIn = (accountsOf: AccountsOf) => async (context: ConnectorContext) => {
  await openDataManager(context, accountsOf(context.settings)).tokens.token()
  return 'Google accepts the OAuth client and the refresh token.'
}

/**
 * Checks the access to customer lists.
 * @param accountsOf which account the settings of a connection mean
 */
export const checkAudiences = (accountsOf: AccountsOf): Check =>
  checkSteps(
    ['reach', reach],
    ['sign in', signIn(accountsOf)],
    [
      'permission',
      async (context) => {
        const { ask, operating } = openDataManager(context, accountsOf(context.settings))
        if (!operating.accountId) return 'Nothing to be checked until a connection names an account.'
        // A check answers at once, whatever comes.
        await ask({ path: `/${accountName(operating)}/userLists`, query: { pageSize: '1' }, repeatable: false })
        return 'The account lets its customer lists be read.'
      },
    ],
  )
