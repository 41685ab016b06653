import type { CheckStep, Connector } from '@penstock/connector'
import type { Role } from '@penstock/wire'
import type { Answer, Call } from '../call.ts'
import { findConfiguration, requireConfiguration } from '../connectors/configuration.ts'
import { databaseNow } from '../db/clock.ts'
import { refuse } from '../refusal.ts'
import { unixSeconds } from '../time.ts'
import { JobHost } from './job-host.ts'
import { openSide } from './sides.ts'
import type { TransferDeps } from './transfers.ts'
import { viewError } from './view.ts'

const checkTimeoutMs = 30_000

/** Tries a connector's stored secrets against its platform. */
export async function checkConnector(
  { db: database, actor, account, id: connectorId, query: { configurationId }, signal }: Call<'checkConnector'>,
  { catalogue, keyring, secretManagers, identityTokens, interactive }: TransferDeps,
): Promise<Answer<'checkConnector'>> {
  const connector = catalogue.find(connectorId) ?? refuse('not_found')
  const wanted = { actor, accountId: account.id, connectorId, configurationId, field: 'query.configurationId' }
  const row = await requireConfiguration(database, wanted, findConfiguration)
  if (!connector.check) refuse('check_not_supported')
  if (!row.configured) refuse('connector_not_configured')
  const side = { connector, accountId: account.id, configurationId: row.configurationId }
  const opened = await openSide({ database, keyring, secretManagers }, side, { job: 'check', fresh: true })
  const job = { kind: 'check', connector: opened, deadlineMs: checkTimeoutMs } as const
  const host = new JobHost({ database, keyring, identityTokens }, [side])
  const result = await interactive.run(job, account, signal, host)
  const checks: readonly CheckStep[] = result.ok
    ? result.value
    : [{ name: 'connectivity', ok: false, message: result.failure.message }]
  const failed = checks.find(({ ok }) => !ok)
  const ids = { srcConnectorId: connectorId, destConnectorId: connectorId }
  return {
    reply: {
      ok: !failed,
      message: failed ? `${failed.name}: ${failed.message}` : `${connector.name} answers, and permits what is needed.`,
      checks: checks.map(({ name, ok, message, suggestion = null }) => ({ name, ok, message, suggestion })),
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
