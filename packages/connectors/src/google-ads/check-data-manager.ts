import { type Check, type ConnectorContext, checkSteps, type Values } from '@penstock/connector'
import { assertConnectivity } from '../platform-api/call.ts'
import { type Accounts, accountName } from './accounts.ts'
import type { ConversionsOf } from './conversion-plans.ts'
import { dataManagerOrigin, destinationOf, openDataManager } from './data-manager.ts'
import { blamedItems } from './google-errors.ts'

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
    ['connectivity', reach],
    ['authentication', signIn(accountsOf)],
    [
      'permissions',
      async (context) => {
        const { ask, operating } = openDataManager(context, accountsOf(context.settings))
        if (!operating.accountId) return 'Nothing to check until a connection has an account.'
        // A check answers at once, whatever comes.
        await ask({ path: `/${accountName(operating)}/userLists`, query: { pageSize: '1' }, repeatable: false })
        return 'The customer lists of the account can be read.'
      },
    ],
  )

/**
 * Checks whether events would be taken: Google is asked to look at one, and to do nothing with it.
 * @param conversionsOf the conversions that the settings of a connection mean
 */
export const checkConversions = (conversionsOf: ConversionsOf): Check =>
  checkSteps(
    ['connectivity', reach],
    ['authentication', signIn((settings) => conversionsOf({ settings }))],
    [
      'permissions',
      async (context) => {
        const plan = conversionsOf(context)
        const { conversionAction, operating, source } = plan
        if (!operating.accountId || conversionAction === undefined) {
          return 'Nothing to check until a connection has an account and a conversion action.'
        }
        const event = {
          transactionId: 'check',
          eventTimestamp: new Date(Date.now() - 86_400_000).toISOString(),
          adIdentifiers: { gclid: 'check' },
          eventSource: source,
        }
        await openDataManager(context, plan).ask({
          method: 'POST',
          path: '/events:ingest',
          body: {
            destinations: [destinationOf(plan, conversionAction)],
            events: [event],
            encoding: 'HEX',
            validateOnly: true,
          },
          // What is wrong with the event itself says nothing of the account.
          expects: ({ status, json }) => status === 400 && blamedItems(json, 'event', 1).size > 0,
        })
        return 'The account accepts events for the conversion action.'
      },
    ],
  )
