import type { Answer, Call } from '../call.ts'
import { newIdentifier } from '../identifiers.ts'
import { refuse, requireEditable } from '../refusal.ts'
import { findActive, holdRunnable } from './queries.ts'
import * as queries from './state-queries.ts'
import { forgetDigests, saltDigests } from './supervisor/digest-queries.ts'
import type { TransferDeps } from './transfers.ts'
import { viewState } from './view.ts'

/** The state that a connection keeps from one transfer to the next, and a full refresh. */

/** Answers 404 if there is no such connection. */
export async function getConnectionState({
  db,
  account,
  id,
}: Call<'getConnectionState'>): Promise<Answer<'getConnectionState'>> {
  const row = await queries.findState.first(db, { accountId: account.id, connectionId: id })
  return { reply: viewState(row ?? refuse('not_found')) }
}

/** Forgets the cursor, the digests of rows, or both. Refuses with `transfer_active` while a transfer uses them. */
export async function resetConnectionState(
  { db: tx, account, id: connectionId, body }: Call<'resetConnectionState'>,
  deps: TransferDeps,
): Promise<Answer<'resetConnectionState'>> {
  const row = (await holdRunnable.first(tx, { accountId: account.id, id: connectionId })) ?? refuse('not_found')
  requireEditable(row, deps)
  if (row.status === 'deleted') refuse('connection_deleted')
  if (await findActive.first(tx, { connectionId })) refuse('transfer_active')
  const of = { accountId: account.id, connectionId }
  const before = viewState((await queries.findState.first(tx, of)) ?? refuse('not_found'))
  if (body.cursor) await queries.forgetCursor.run(tx, { connectionId })
  // The keys of a mirror stay, so that it removes what left the source meanwhile.
  if (body.rows && (await saltDigests.run(tx, { connectionId, salt: newIdentifier() })) === 0) {
    await forgetDigests.run(tx, { connectionId })
  }
  const what = [body.cursor && 'cursor', body.rows && 'rows'].filter((name) => typeof name === 'string')
  if (what.length > 0) await queries.recordReset.run(tx, { connectionId, what: what.join(' ') })
  const reply = viewState((await queries.findState.first(tx, of)) ?? refuse('not_found'))
  return { reply, audited: { before, after: { ...reply, forgotten: what } } }
}
