import { type AuditEntry, record, serviceActor } from '../../audit/record.ts'
import type { Transaction } from '../../db/database.ts'
import { newIdentifier } from '../../identifiers.ts'
import { withoutRows } from '../../organizations/limits.ts'
import { blackoutEnd } from '../blackouts.ts'
import { wakeWorkers } from '../queries.ts'
import { viewTransfer } from '../view.ts'
import type { SupervisorDeps } from './deps.ts'
import * as queries from './due-reject-queries.ts'
import type { StartDeps } from './start-many.ts'

/** Starts transfers of connections that read the rejected records of another one, once there are some; in every worker. */

/** Connections of one transaction, which holds them. */
const dueAtOnce = 100
/** After a transfer without success, which has tried for a while itself. */
const againSeconds = 600

/** Starts what is due. A connection in a blackout, or whose connectors move no data, is left out this time. */
export async function startDueRejects(deps: Pick<SupervisorDeps, 'database'> & StartDeps): Promise<void> {
  await deps.database.transaction((tx) => startSome(tx, deps))
}

async function startSome(tx: Transaction, { catalogue, settings }: StartDeps): Promise<void> {
  const taken = await queries.takeDueRejects.all(tx, { limit: dueAtOnce, againSeconds })
  const organizationIds = taken.map(({ organizationId }) => organizationId)
  const used = settings?.limits && (await withoutRows(tx, settings.limits, organizationIds))
  const due = taken.filter(
    ({ organizationId, destConnectorId, blackout, now }) =>
      !used?.has(organizationId) &&
      catalogue.find(destConnectorId)?.destination?.deliver &&
      !(blackout && blackoutEnd(blackout, now)),
  )
  if (due.length === 0) return
  const connectionIds = due.map(({ connectionId }) => connectionId)
  const started = await queries.insertOfRejects.all(tx, { ids: connectionIds.map(newIdentifier), connectionIds })
  if (started.length === 0) return
  await wakeWorkers.run(tx, {})
  const organizations = new Map(due.map(({ connectionId, organizationId }) => [connectionId, organizationId]))
  record(
    tx,
    ...started.map(
      (row): AuditEntry => ({
        organizationId: organizations.get(row.connectionId) ?? '',
        actor: serviceActor,
        action: 'startTransfer',
        accountId: row.accountId,
        targetId: row.connectionId,
        after: viewTransfer(row),
      }),
    ),
  )
}
