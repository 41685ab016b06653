import type { AuditActor, Blackout, ConnectionStatus, TransferTrigger } from '@penstock/wire'
import { type AuditEntry, record } from '../../audit/record.ts'
import type { Transaction } from '../../db/database.ts'
import { newIdentifier } from '../../identifiers.ts'
import type { Logger } from '../../log.ts'
import { withoutRows } from '../../organizations/limits.ts'
import { Refusal } from '../../refusal.ts'
import { wakeWorkers } from '../queries.ts'
import { requireIntegrated, requireRunnable } from '../transfers.ts'
import { viewTransfer } from '../view.ts'
import type { SupervisorDeps } from './deps.ts'
import { insertStarted } from './start-many-queries.ts'

/** Starting transfers of many connections without a call: for schedules, and for connections that run after others. */

/** A connection that is held, with all that says whether it may run. */
export type StartableRow = {
  connectionId: string
  organizationId: string
  accountId: string
  status: ConnectionStatus
  accountEnabled: boolean
  srcConnectorId: string
  destConnectorId: string
  /** Whether its connection can no longer be read. */
  isGone: boolean
  blackout: Blackout | null
  /** The time of the database. */
  now: Date
}

/** The settings have the limits of organizations; without them, there are none. */
export type StartDeps = Pick<SupervisorDeps, 'catalogue'> & {
  readonly settings?: Pick<SupervisorDeps['settings'], 'limits'>
}

/** Starts a transfer of each connection that may run and has no active one, and audits it. The others are left out. Starts that come every second are not audited; their schedule is. */
export async function startMany(
  tx: Transaction,
  { catalogue, settings }: StartDeps,
  due: readonly (StartableRow & { readonly startedBy: AuditActor })[],
  {
    trigger,
    log,
    isAudited = true,
  }: { readonly trigger: TransferTrigger; readonly log: Logger; readonly isAudited?: boolean },
): Promise<void> {
  const used = settings?.limits
    ? await withoutRows(
        tx,
        settings.limits,
        due.map(({ organizationId }) => organizationId),
      )
    : undefined
  const runnable = due.filter((row) => {
    if (row.isGone) return false
    const message = used?.get(row.organizationId)
    if (message !== undefined) {
      log.info({ connectionId: row.connectionId, code: 'quota_exceeded', message, trigger }, 'a transfer was left out')
      return false
    }
    try {
      requireIntegrated(catalogue, row)
      requireRunnable(row)
      return true
    } catch (error) {
      // A connection that may not run now is skipped this time.
      if (!(error instanceof Refusal)) throw error
      log.info({ connectionId: row.connectionId, code: error.code, trigger }, 'a transfer was left out')
      return false
    }
  })
  const byId = new Map(runnable.map((row) => [row.connectionId, row]))
  const started = await insertStarted.all(tx, {
    ids: runnable.map(newIdentifier),
    connectionIds: [...byId.keys()],
    startedBy: runnable.map(({ startedBy }) => JSON.stringify(startedBy)),
    trigger,
  })
  if (started.length === 0) return
  await wakeWorkers.run(tx, {})
  if (!isAudited) return
  record(
    tx,
    ...started.flatMap((row): AuditEntry[] => {
      const of = byId.get(row.connectionId)
      if (!of) return []
      const { organizationId, startedBy: actor } = of
      const { accountId, connectionId: targetId } = row
      return [{ organizationId, actor, action: 'startTransfer', accountId, targetId, after: viewTransfer(row) }]
    }),
  )
}
