import type { Connector, Values } from '@penstock/connector'
import type { ActingAccount } from '../call.ts'
import type { Config } from '../config.ts'
import { subjectOf } from '../identity-tokens/identity-tokens.ts'

/** Values of the fields of a connector that show which identity of the sub-account to trust. They are never stored. */
export function identityValues(
  { secrets }: Connector,
  { publicUrl }: Pick<Config, 'publicUrl'>,
  { organizationId, id: accountId }: ActingAccount,
): Values {
  const shown = { issuer: publicUrl, subject: subjectOf({ organizationId, accountId }) }
  return Object.fromEntries(
    Object.entries(secrets).flatMap(([key, { identity }]) =>
      identity === undefined || identity === 'target' ? [] : [[key, shown[identity]]],
    ),
  )
}
