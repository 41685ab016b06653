import { type CheckStep, type ConnectorContext, ConnectorError, checkSteps, type Finding } from '@penstock/connector'
import { assertConnectivity } from '../../platform-api/call.ts'
import type { PostingDestination } from '../posting-facts.ts'
import { assertIds, openApi } from './open-api.ts'
import { moneyOf } from './postings.ts'

/** Whether the account of the connection is seen, and its currency is known. */
async function assertAccount(facts: PostingDestination, context: ConnectorContext): Promise<string> {
  assertIds(facts.settings, context.settings)
  const client = await openApi(context, facts.platformApi, facts.auth)
  const { currency } = await moneyOf(facts, client, facts.account.of(context.settings))
  return `The credentials have access to the account, which is in ${currency}.`
}

/** The check: whether the platform answers, knows the credentials, and shows the account. */
export const checkPostings = (facts: PostingDestination, context: ConnectorContext): Promise<readonly CheckStep[]> => {
  const { platformApi, check } = facts
  return checkSteps(
    ['connectivity', (one) => assertConnectivity(one, `${new URL(platformApi.baseUrl).origin}/`)],
    [
      'authentication',
      async (one) => {
        await (await openApi(one, platformApi, facts.auth)).askObject(check.authentication)
        return `${platformApi.name} accepts ${check.credentials}.`
      },
    ],
    [
      'permissions',
      async (one) => {
        const [request, lacks] = check.permissions ?? []
        const client = await openApi(one, platformApi, facts.auth)
        const lacking = request && lacks?.(await client.askObject(request))
        if (lacking !== undefined) throw new ConnectorError('permission_denied', lacking)
        const isNamed = one.settings[facts.account.setting] !== undefined
        return isNamed ? await assertAccount(facts, one) : 'The check needs a connection with an account.'
      },
    ],
  )(context)
}

/** The inspection before a transfer: the settings, the account, and its currency. */
export async function inspectPostings(
  facts: PostingDestination,
  context: ConnectorContext,
): Promise<readonly Finding[]> {
  await assertAccount(facts, context)
  return []
}
