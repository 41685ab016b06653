import { type CheckStep, type ConnectorContext, ConnectorError, checkSteps } from '@penstock/connector'
import { assertConnectivity } from '../../platform-api/call.ts'
import type { ReadFacts } from '../report-facts.ts'
import { openApi } from './open-api.ts'
import { factsFor, namedAccounts, planOf } from './report-plan.ts'
import { apiOf } from './reports.ts'

/** Maximum number of accounts that a check looks at. */
const checkedMax = 10

/** The check of a source of reports: whether the platform answers, knows the credentials, and lets them read reports. */
export async function checkReports(facts: ReadFacts, context: ConnectorContext): Promise<readonly CheckStep[]> {
  const api = apiOf(facts, context)
  const open = (one: ConnectorContext) => openApi(one, api, facts.auth)
  return await checkSteps(
    ['connectivity', (one) => assertConnectivity(one, `${new URL(api.baseUrl).origin}/`)],
    [
      'authentication',
      async (one) => {
        await (await open(one)).ask(facts.check.authentication(one))
        return `${api.name} accepts the credentials.`
      },
    ],
    [
      'permissions',
      async (one) => {
        const client = await open(one)
        const { permissions, lacks } = facts.check
        const lacking = permissions && lacks?.(await client.ask(permissions(one)))
        if (lacking !== undefined) throw new ConnectorError('permission_denied', lacking)
        const { get } = facts.accounts
        if (one.settings.accountIds === undefined || !get) return 'The credentials can read reports.'
        planOf(factsFor(facts, one.settings), one.settings)
        for (const account of namedAccounts(facts, one.settings).slice(0, checkedMax))
          await client.ask(get(account, one))
        return 'The credentials can read reports, and have access to the accounts.'
      },
    ],
  )(context)
}
