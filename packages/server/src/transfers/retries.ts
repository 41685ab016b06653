import { limits } from '@penstock/wire'
import type { Answer, Call } from '../call.ts'
import { requireRowsLeft } from '../organizations/limits.ts'
import { refuse } from '../refusal.ts'
import { blackoutEnd } from './blackouts.ts'
import { findActive, holdRunnable, wakeWorkers } from './queries.ts'
import * as queries from './retry-queries.ts'
import { addLogLine } from './supervisor/part-queries.ts'
import { requireIntegrated, requireRunnable, requireTransfer, type TransferDeps } from './transfers.ts'
import { viewTransfer } from './view.ts'

/** Retries of the parts of a transfer that did not succeed (docs/decisions/rejected-records.md). */

/**
 * Continues a transfer in parts that ended without success: its parts that did not succeed, each after its last confirmed record. Refuses
 * with `nothing_to_retry` if there is none, a later transfer was started, or a part cannot continue.
 */
export async function retryTransfer(
  { db: tx, account, id: connectionId, transferId: id }: Call<'retryTransfer'>,
  { catalogue, config }: TransferDeps,
): Promise<Answer<'retryTransfer'>> {
  const row = (await holdRunnable.first(tx, { accountId: account.id, id: connectionId })) ?? refuse('not_found')
  const before = await requireTransfer(tx, account, connectionId, id)
  requireIntegrated(catalogue, row)
  requireRunnable(row)
  const active = await findActive.first(tx, { connectionId })
  if (active?.id === id) return { reply: viewTransfer(active), already: true }
  if (active) refuse('transfer_active')
  const until = row.blackout && blackoutEnd(row.blackout, row.now)
  if (until)
    refuse('transfer_blacked_out', [
      { field: 'id', message: `starts no transfers until ${until.toISOString()} (blackout)` },
    ])
  await requireRowsLeft(tx, config, row.organizationId)
  const found = (await queries.findRetry.first(tx, { id, connectionId })) ?? refuse('not_found')
  const why = whyNot(found)
  if (why) refuse('nothing_to_retry', [{ field: 'transferId', message: why }])
  await queries.queueParts.run(tx, { id, connectionId })
  const continued = await queries.continueTransfer.first(tx, { id })
  if (!continued) refuse('nothing_to_retry', [{ field: 'transferId', message: 'did not end without success' }])
  const line = { ms: row.now.getTime(), kind: 'began', text: `${found.left} of ${found.parts} parts are retried.` }
  await addLogLine.run(tx, {
    id,
    attempt: continued.logAttempt,
    line: JSON.stringify(line),
    linesMax: limits.transferLogLinesMax,
  })
  await wakeWorkers.run(tx, {})
  const reply = viewTransfer(continued)
  return { reply, audited: { before: { status: before.status }, after: { status: reply.status, parts: found.left } } }
}

function whyNot({
  isLatest,
  parts,
  isKept,
  left,
  lost,
}: NonNullable<Awaited<ReturnType<typeof queries.findRetry.first>>>): string | undefined {
  if (parts === 1) return 'has no parts: start a new transfer'
  if (left === 0) return 'has no part that failed'
  if (!isLatest) return 'was followed by another transfer, which read its records again'
  if (!isKept) return 'ended too long ago: start a new transfer'
  if (lost > 0) {
    return `has ${lost === 1 ? 'a part' : `${lost} parts`} that cannot continue, because the destination keeps nothing of an incomplete file: start a new transfer`
  }
  return undefined
}
