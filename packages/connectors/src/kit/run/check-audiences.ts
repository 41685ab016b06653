import {
  type CheckStep,
  type ConnectorContext,
  ConnectorError,
  checkSteps,
  type Finding,
  type InspectionContext,
} from '@penstock/connector'
import { assertConnectivity } from '../../platform-api/call.ts'
import { textIn } from '../../platform-api/json.ts'
import { rowsOf } from '../../platform-api/rows/batch-rows.ts'
import type { AudienceDestination, OpenedAudience } from '../audience-facts.ts'
import { isReplace, replacesAll } from '../replaces.ts'
import { accountOf, withApi } from './audience-account.ts'
import { assertIds, credentialsOf, meaningBy, openApi } from './open-api.ts'

/** Whether the account of the connection is visible. If it names no account, whether any is. */
async function assertAccount(facts: OpenedAudience, context: ConnectorContext): Promise<void> {
  const { platformApi, check } = facts
  const client = await openApi(context, platformApi, facts.auth)
  const to = await accountOf(facts, context, client)
  const errorOf = meaningBy(platformApi, (answer) => check.means?.(answer, to))
  const request = to.account === '' ? check.noAccount : check.account(to)
  if (!request) return
  // An answer can also be a list.
  const { json } = await client.ask({ ...request, errorOf })
  if (typeof json === 'object' && json !== null) return
  throw new ConnectorError('malformed_response', `${platformApi.name} did not answer with the expected JSON.`)
}

/** The same for a connector, which may not have a connection yet. */
async function checkAccount(facts: OpenedAudience, context: ConnectorContext): Promise<string> {
  const { permissions, lacks } = facts.check
  if (permissions) {
    const client = await openApi(context, facts.platformApi, facts.auth)
    const lacking = lacks?.(await client.askObject(permissions))
    if (lacking !== undefined) throw new ConnectorError('permission_denied', lacking)
  }
  const isNamed = textIn(context.settings[facts.account]) !== undefined
  if (!isNamed && !facts.check.noAccount) return 'The check needs a connection with an account.'
  if (isNamed) assertIds(facts.settings, context.settings)
  await assertAccount(facts, context)
  return isNamed ? 'The credentials have access to the account.' : 'The credentials have access to an account.'
}

/** The check of a destination of audiences: whether the platform answers, knows the credentials, and shows the account. */
export const checkAudiences = (facts: AudienceDestination, context: ConnectorContext): Promise<readonly CheckStep[]> =>
  checkSteps(
    ['connectivity', (one) => assertConnectivity(one, `${new URL(withApi(facts, one).platformApi.baseUrl).origin}/`)],
    [
      'authentication',
      async (one) => {
        const { platformApi, auth, check } = withApi(facts, one)
        const { authentication } = check
        if (typeof authentication === 'function') await authentication(one)
        else if (authentication) await (await openApi(one, platformApi, auth)).askObject(authentication)
        else await (await credentialsOf(one, platformApi, auth)).headers()
        return `${platformApi.name} accepts ${check.credentials}.`
      },
    ],
    ['permissions', (one) => checkAccount(withApi(facts, one), one)],
  )(context)

/** The inspection before a transfer: whether the account is seen, and whether members are replaced in several requests. */
export async function inspectAudiences(
  facts: AudienceDestination,
  context: InspectionContext,
): Promise<readonly Finding[]> {
  assertIds(facts.settings, context.settings)
  await assertAccount(withApi(facts, context), context)
  const { replace, batch } = facts
  if (!replace || replace.open) return []
  const byRows = replace.byRows && [...rowsOf(context)].some((row) => isReplace(row.text('action')))
  if (!byRows && !replacesAll(facts, context.settings)) return []
  const message = `The first request removes everyone from the audience, and each request contains up to ${batch.rowsMax.toLocaleString('en')} people. If the transfer fails in between, the audience contains only the people that were sent, until a transfer succeeds.`
  return [{ code: 'replaced_in_parts', message, ...(byRows && { column: 'action' }) }]
}
