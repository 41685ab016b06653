import type { Shape } from '@penstock/engine'
import type { ColumnChange } from '@penstock/wire'
import type { Answer, Call } from '../call.ts'
import { refuse, requireEditable } from '../refusal.ts'
import * as queries from './drift-queries.ts'
import { holdRunnable } from './queries.ts'
import type { TransferDeps } from './transfers.ts'
import { viewDrift } from './view.ts'

/** The reaction of a connection to columns that changed since its last successful transfer. */

/** Answers 404 if there is no such connection. */
export async function getDrift({ db, account, id }: Call<'getDrift'>): Promise<Answer<'getDrift'>> {
  const row = await queries.findDrift.first(db, { accountId: account.id, connectionId: id })
  return { reply: viewDrift(row ?? refuse('not_found')) }
}

/** The columns that the newest transfer found, and the changes that the next one follows. */
const acceptedShape = (
  { shape, foundShape }: queries.DriftRow,
  changes: readonly ColumnChange[],
  adds: boolean,
): Shape => ({
  source: null,
  destination: null,
  ...foundShape,
  accepted: [...(shape?.accepted ?? []), ...changes],
  adds: [...(shape?.adds ?? []), ...(adds ? changes.filter(isAdded).map(({ column }) => column) : [])],
})

const isAdded = ({ side, change }: ColumnChange): boolean => side === 'source' && change === 'added'

/**
 * Sets what changes do, and accepts the ones that stopped the newest transfer: the next transfer is compared with the columns that
 * it found, and follows the changes: it adds columns, and maps columns that were renamed.
 */
export async function setDrift(
  { db: tx, account, id: connectionId, body }: Call<'setDrift'>,
  deps: TransferDeps,
): Promise<Answer<'setDrift'>> {
  const row = (await holdRunnable.first(tx, { accountId: account.id, id: connectionId })) ?? refuse('not_found')
  requireEditable(row, deps)
  if (row.status === 'deleted') refuse('connection_deleted')
  if (body.add && !body.accept)
    refuse('invalid_request', [
      { field: 'body.add', message: 'needs accept: columns are added with the changes that are accepted' },
    ])
  const of = { accountId: account.id, connectionId }
  const before = (await queries.findDrift.first(tx, of)) ?? refuse('not_found')
  await queries.putDrift.run(tx, {
    connectionId,
    drift: body.drift ?? before.drift,
    shape:
      body.accept && before.changes ? JSON.stringify(acceptedShape(before, before.changes, body.add ?? false)) : null,
  })
  const after = (await queries.findDrift.first(tx, of)) ?? refuse('not_found')
  return {
    reply: viewDrift(after),
    audited: {
      before: { drift: before.drift, changes: before.changes?.length ?? 0 },
      after: { drift: after.drift, changes: after.changes?.length ?? 0, ...(body.add && { add: true }) },
    },
  }
}
