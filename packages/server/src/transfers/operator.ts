import type { AuditActor } from '@penstock/wire'
import { record } from '../audit/record.ts'
import type { Config } from '../config.ts'
import type { Db, Transaction } from '../db/database.ts'
import * as queries from './list-queries.ts'
import { cancelTransfer } from './queries.ts'

/** Transfers of all organizations, as the operator sees and stops them at the command line. */

const unknown = (id: string): Error =>
  new Error(`The transfer ${id} does not exist. penstock transfer list --status all shows the newest transfers.`)

export type OperatorTransfer = queries.OperatorTransferRow & {
  /** The thing that an active transfer waits for; null: it waits for nothing. */
  readonly waitsFor: string | null
}

type Settings = Pick<Config, 'transfers' | 'heartbeatTimeoutSeconds'>

/** The newest transfers of a filter. */
export const listTransfersOfOperator = async (
  db: Db,
  filter: queries.OperatorFilter,
  settings: Settings,
): Promise<OperatorTransfer[]> =>
  (await queries.listOfOperator.all(db, filter)).map((row) => ({ ...row, waitsFor: waitsFor(row, settings) }))

/** One transfer with its parts. @throws an error that says where to look if it does not exist */
export async function findTransferOfOperator(db: Db, id: string, settings: Settings) {
  const row = await queries.findOfOperator.first(db, { id })
  if (!row) throw unknown(id)
  const parts = row.parts === null ? [] : await queries.partsOfOperator.all(db, { id })
  return { transfer: { ...row, waitsFor: waitsFor(row, settings) }, parts }
}

/**
 * Cancels a transfer, as a person of its organization can. Repeating changes nothing.
 * @throws an error that says why if it does not exist, or has ended in another way
 */
export async function cancelTransferOfOperator(
  tx: Transaction,
  id: string,
  actor: AuditActor,
): Promise<{ status: string; changed: boolean }> {
  const was = await queries.lockOfOperator.first(tx, { id })
  if (!was) throw unknown(id)
  const { organizationId, accountId, status, cancelling } = was
  if (status === 'cancelled' || cancelling) return { status, changed: false }
  const row = await cancelTransfer.first(tx, { id })
  if (!row) throw new Error(`Transfer ${id} has ended and cannot be cancelled: its status is ${status}.`)
  record(tx, {
    organizationId,
    actor,
    action: 'transfer cancel',
    accountId,
    targetId: id,
    before: { status, cancelling },
    after: { status: row.status, cancelling: true },
  })
  return { status: row.status, changed: true }
}

function waitsFor(row: queries.OperatorTransferRow, { transfers, heartbeatTimeoutSeconds }: Settings): string | null {
  if (row.status === 'running') return waitsWhileRunning(row, heartbeatTimeoutSeconds)
  if (row.status !== 'queued') return null
  if (row.cancelling) return 'a worker that ends it'
  if (row.waitsForGroup !== null) return `a place in the group ${row.waitsForGroup}`
  const organizationMax = row.organizationLimit ?? transfers.perOrganization
  if (organizationMax > 0 && row.organizationRuns >= organizationMax) {
    return `a place of its organization: ${row.organizationRuns} of ${organizationMax} transfers run`
  }
  if (row.accountRuns >= transfers.perAccount) {
    return `a place of its sub-account: ${row.accountRuns} of ${transfers.perAccount} transfers run`
  }
  return 'a free worker'
}

function waitsWhileRunning(row: queries.OperatorTransferRow, heartbeatTimeoutSeconds: number): string | null {
  const { cancelling, heartbeatSeconds, errorCode, parts, partsRunning } = row
  if (heartbeatSeconds !== null && heartbeatSeconds > heartbeatTimeoutSeconds) {
    return `another worker: no heartbeat for ${Math.round(heartbeatSeconds)} seconds`
  }
  if (cancelling) return 'the end of its batch'
  if (errorCode !== null) return `the next try after ${errorCode}`
  if (parts !== null && partsRunning === 0) return 'a free worker'
  return null
}
