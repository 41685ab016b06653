import type { Replayable, Transfer } from '@penstock/wire'
import type { Answer, Call } from '../call.ts'
import type { Db } from '../db/database.ts'
import { refuse } from '../refusal.ts'
import { holdRunnable } from './queries.ts'
import { countReplayable, hasRows } from './reject-queries.ts'
import { replacesAll } from './sides.ts'
import { begin, requireIntegrated, requireTransfer, type TransferDeps } from './transfers.ts'

/** Transfers of the records that another one rejected; `supervisor/replays.ts` marks the delivered ones. */

/** Counts the rejected records that a replay of a transfer sends, and the ones that it cannot send. */
export async function getReplayable({
  db,
  account,
  id,
  transferId,
}: Call<'getReplayable'>): Promise<Answer<'getReplayable'>> {
  return { reply: await replayableOf(db, await requireTransfer(db, account, id, transferId)) }
}

/** Starts a transfer of the records that another one rejected, that are kept, and that no replay has delivered yet. */
export async function replayTransfer(
  { db: tx, account, id: connectionId, transferId: id, query: { rows = 'all' }, traceparent }: Call<'replayTransfer'>,
  deps: TransferDeps,
): Promise<Answer<'replayTransfer'>> {
  const { catalogue } = deps
  const row = (await holdRunnable.first(tx, { accountId: account.id, id: connectionId })) ?? refuse('not_found')
  const rejected = await requireTransfer(tx, account, connectionId, id)
  requireIntegrated(catalogue, row)
  if (replacesAll(catalogue, row)) {
    const message =
      'replaces everything, so a replay would leave only the rejected records: start a new transfer instead'
    refuse('transfer_not_supported', [{ field: 'destConnectionConfig', message }])
  }
  if (rejected.test) {
    const message = 'is a test: start a transfer, which reads its records again'
    refuse('nothing_to_replay', [{ field: 'transferId', message }])
  }
  if (rejected.finishedTime === null) {
    refuse('nothing_to_replay', [{ field: 'transferId', message: 'has not ended: wait until it ends, then retry' }])
  }
  const { ofTables, ...rejects } = await countsOf(tx, rejected)
  if (ofTables) {
    const message = 'moved many tables: correct the records in the source, then start a transfer'
    refuse('nothing_to_replay', [{ field: 'transferId', message }])
  }
  if (rejects.replayable === 0) refuseNothing(rejects)
  const replayRows = rows === 'all' ? null : rows
  if (replayRows && !(await hasRows.first(tx, { transferId: id, rows: replayRows }))?.found) {
    const message =
      rows === 'ready'
        ? 'has only records that need a correction or are older than what was delivered'
        : 'has no corrected records to send'
    refuse('nothing_to_replay', [{ field: 'query.rows', message }])
  }
  const { reply, already } = await begin(tx, row, { trigger: 'replay', replayOf: id, replayRows, traceparent }, deps)
  return { reply: { ...reply, rejects }, already }
}

async function replayableOf(db: Db, transfer: Transfer): Promise<Replayable> {
  const { ofTables, ...counts } = await countsOf(db, transfer)
  return counts
}

/** @returns `ofTables`: whether the transfer moved many tables, whose records are not sent again */
async function countsOf(db: Db, { id, records, test }: Transfer): Promise<Replayable & { ofTables: boolean }> {
  const found = (!test && (await countReplayable.first(db, { transferId: id }))) || nothing
  const { replayable, replayed, ofTables } = found.ofTables ? { ...nothing, ofTables: true } : found
  return { replayable, replayed, notKept: Math.max(0, records.rejected - replayable - replayed), ofTables }
}

const nothing = { replayable: 0, replayed: 0, ofTables: false }

function refuseNothing({ replayed, notKept }: Replayable): never {
  const reasons = [
    ...(replayed > 0 ? [`${replayed} of its rejected records were delivered by earlier replays`] : []),
    ...(notKept > 0 ? [`${notKept} of its rejected records are not kept and cannot be sent again`] : []),
  ]
  const messages = reasons.length > 0 ? reasons : ['rejected no records']
  refuse(
    'nothing_to_replay',
    messages.map((message) => ({ field: 'transferId', message })),
  )
}
