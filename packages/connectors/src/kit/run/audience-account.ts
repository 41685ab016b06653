import { type ConnectorContext, ConnectorError } from '@penstock/connector'
import type { PlatformClient } from '../../platform-api/client.ts'
import type { AccountTarget, AudienceDestination, OpenedAudience } from '../audience-facts.ts'
import { assertIds } from './open-api.ts'

/** The facts with the API of a connection. */
export function withApi(
  facts: AudienceDestination,
  context: Pick<ConnectorContext, 'settings' | 'secrets'>,
): OpenedAudience {
  const { platformApi } = facts
  return { ...facts, platformApi: typeof platformApi === 'function' ? platformApi(context) : platformApi }
}

/** The account of the audiences. Empty if a connection names no account, and none is found. */
export async function accountOf(
  facts: AudienceDestination,
  context: ConnectorContext,
  client: PlatformClient,
): Promise<AccountTarget> {
  const { settings } = context
  const account = facts.findAccount?.(context, client) ?? String(settings[facts.account] ?? '').trim()
  return { account: await account, settings }
}

/** The account whose audiences are discovered. Throws `invalid_setting` if the settings name no account. */
export async function accountFor(
  facts: AudienceDestination,
  context: ConnectorContext,
  client: PlatformClient,
): Promise<AccountTarget> {
  const { account, settings } = facts
  assertIds({ [account]: settings[account] ?? {} }, context.settings)
  const to = await accountOf(facts, context, client)
  if (to.account !== '') return to
  throw new ConnectorError('invalid_setting', `Set “${settings[account]?.label}” first: audiences belong to it.`)
}
