import { type ConnectorContext, ConnectorError } from '@penstock/connector'
import type { PlatformClient } from '../../platform-api/client.ts'
import type { AccountTarget, AudienceDestination } from '../audience-facts.ts'
import { assertIds } from './open-api.ts'

/** Whose audiences they are. The account is empty if a connection names none, and none is found. */
export async function accountOf(
  facts: AudienceDestination,
  context: ConnectorContext,
  client: PlatformClient,
): Promise<AccountTarget> {
  const { settings } = context
  const account = facts.findAccount?.(context, client) ?? String(settings[facts.account] ?? '').trim()
  return { account: await account, settings }
}

/** The account whose audiences are discovered. Throws `invalid_setting` if the settings name none. */
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
