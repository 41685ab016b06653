import type { CheckStep, Connector } from '@penstock/connector'
import type { Role } from '@penstock/wire'
import type { Answer, Call } from '../call.ts'
import { databaseNow } from '../db/clock.ts'
import { refuse } from '../refusal.ts'
import { unixSeconds } from '../time.ts'
import { JobSecrets } from './job-secrets.ts'
import { findAddedSettings } from './queries.ts'
import { openSide } from './sides.ts'
import type { TransferDeps } from './transfers.ts'
import { viewError } from './view.ts'

const checkTimeoutMs = 30_000

/** Tries a connector's stored secrets against its platform. */
export async function checkConnector(
  { db: database, account, id: connectorId, signal }: Call<'checkConnector'>,
  { catalogue, keyring, interactive }: TransferDeps,
): Promise<Answer<'checkConnector'>> {
  const connector = catalogue.find(connectorId) ?? refuse('not_found')
  const added = await findAddedSettings.first(database, { accountId: account.id, connectorId })
  if (!added) refuse('connector_not_added')
  if (!connector.check) refuse('check_not_supported')
  if (!added.configured) refuse('connector_not_configured')
  const side = await openSide({ database, keyring }, connector, account.id)
  const job = { kind: 'check', connector: side, deadlineMs: checkTimeoutMs } as const
  const secrets = new JobSecrets({ database, keyring }, account.id, [connector])
  const result = await interactive.run(job, account, signal, secrets)
  const checks = result.ok ? result.value : [{ name: 'connectivity', ok: false, message: result.failure.message }]
  const failed = checks.find(({ ok }) => !ok)
  const ids = { srcConnectorId: connectorId, destConnectorId: connectorId }
  return {
    reply: {
      ok: !failed,
      message: failed ? `${failed.name}: ${failed.message}` : `${connector.name} answers, and permits what is needed.`,
      checks: checks.map(({ name, ok, message }) => ({ name, ok, message })),
      error: failed
        ? viewError(result.ok ? errorOf(failed, connector) : { side: sideOf(connector), ...result.failure }, ids)
        : null,
      checkedTime: unixSeconds(await databaseNow(database)),
    },
  }
}

const errorOf = ({ code = 'request_refused', message }: CheckStep, connector: Connector) => ({
  code,
  message,
  side: sideOf(connector),
})

/** A connector that can be both is checked as a source. */
const sideOf = ({ source }: Connector): Role => (source ? 'Source' : 'Destination')
