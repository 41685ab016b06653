import { asOutcome } from '@penstock/connector'
import type { CheckResult } from '@penstock/wire'
import type { Catalogue } from '../connectors/catalogue.ts'
import type { Database } from '../db/database.ts'
import type { ActingAccount } from '../http/call.ts'
import { refuse } from '../refusal.ts'
import type { Keyring } from '../secrets/keyring.ts'
import { unixSeconds } from '../time.ts'
import { openContext, type Reach } from './ends.ts'
import { findAddedSettings } from './queries.ts'

const checkTimeoutMs = 30_000

/** Tries a connector's stored secrets against its platform. */
export async function checkConnector(
  db: Database,
  deps: { catalogue: Catalogue; keyring: Keyring; reach: Reach },
  account: ActingAccount,
  connectorId: string,
  signal: AbortSignal,
): Promise<CheckResult> {
  const connector = deps.catalogue.find(connectorId) ?? refuse('not_found')
  const added = await findAddedSettings.first(db, { accountId: account.id, connectorId })
  if (!added) refuse('connector_not_added')
  const check = connector.check ?? refuse('check_not_supported')
  if (!added.configured) refuse('connector_not_configured')
  const timely = AbortSignal.any([signal, AbortSignal.timeout(checkTimeoutMs)])
  const context = await openContext(db, deps, connector, account.id, undefined, timely)
  const checks = await check(context).catch((error) => {
    const outcome = asOutcome(error)
    const isLate = timely.aborted && !signal.aborted
    if (!outcome && !isLate) throw error
    const message = isLate
      ? `It did not answer within ${checkTimeoutMs / 1000} seconds: try again later.`
      : (outcome?.message ?? '')
    return [{ name: 'reach', ok: false, message }]
  })
  const failed = checks.find(({ ok }) => !ok)
  return {
    ok: !failed,
    message: failed ? `${failed.name}: ${failed.message}` : `${connector.name} answers, and permits what is needed.`,
    checks: [...checks],
    checkedTime: unixSeconds(new Date()),
  }
}
