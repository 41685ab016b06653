import { mirrorsRows } from '@penstock/engine'
import type { BodyOf, ConnectionState } from '@penstock/wire'
import type { Answer, Call } from '../call.ts'
import type { Catalogue } from '../connectors/catalogue.ts'
import type { Db, Transaction } from '../db/database.ts'
import { newIdentifier } from '../identifiers.ts'
import { refuse, requireEditable } from '../refusal.ts'
import { viewAudiences } from './audience-view.ts'
import { viewChangeLogs } from './change-log-view.ts'
import { nameTables, requireTables } from './connection-tables.ts'
import { describedBy, inWords, otherIdentity } from './described.ts'
import { findActive, holdRunnable } from './queries.ts'
import { removedRowsStay } from './reads-again.ts'
import * as queries from './state-queries.ts'
import { leaveLogs } from './supervisor/change-log-queries.ts'
import { forgetDigests } from './supervisor/digest-queries.ts'
import { forgetRows } from './supervisor/digests.ts'
import type { TransferDeps } from './transfers.ts'
import { viewState } from './view.ts'

/** The state that a connection keeps from one transfer to the next, and a full refresh. */

/** Answers 404 if there is no such connection. */
export async function getConnectionState(
  { db, account, id }: Call<'getConnectionState'>,
  deps: TransferDeps,
): Promise<Answer<'getConnectionState'>> {
  return { reply: await readState(db, { accountId: account.id, connectionId: id }, deps) }
}

async function readState(
  db: Db,
  of: { accountId: string; connectionId: string },
  { catalogue, keyring }: TransferDeps,
): Promise<ConnectionState> {
  const row = (await queries.findState.first(db, of)) ?? refuse('not_found')
  const connectors = { source: catalogue.known(row.srcConnectorId), destination: catalogue.known(row.destConnectorId) }
  const afresh = startsAfresh(catalogue, row)
  const stay = await removedRowsStay(db, connectors, { ...row, forgets: afresh !== undefined })
  const logs = await queries.findLogs.all(db, { connectionId: of.connectionId })
  const state = viewState(row, { afresh, removedRowsStay: stay })
  const audiences = await viewAudiences({ db, keyring }, of.connectionId)
  return { ...state, ...viewChangeLogs(logs, connectors.source), ...audiences }
}

/** Why the next transfer with these settings reads everything though there is a cursor, as a sentence; `undefined` if it continues. */
export function startsAfresh(catalogue: Catalogue, row: queries.ConnectionStateRow): string | undefined {
  if (!row.cursor) return undefined
  const connectors = { source: catalogue.known(row.srcConnectorId), destination: catalogue.known(row.destConnectorId) }
  const other = otherIdentity(connectors, row.describes, describedBy(row))
  return other && `The next transfer reads the source from its beginning, ${inWords(other)}.`
}

/** Forgets the cursor, the digests of rows, or both, and has a slot dropped. Refuses with `transfer_active` while a transfer uses them. */
export async function resetConnectionState(
  { db: tx, account, id: connectionId, body }: Call<'resetConnectionState'>,
  deps: TransferDeps,
): Promise<Answer<'resetConnectionState'>> {
  const row = (await holdRunnable.first(tx, { accountId: account.id, id: connectionId })) ?? refuse('not_found')
  requireEditable(row, deps)
  if (row.status === 'deleted') refuse('connection_deleted')
  if (await findActive.first(tx, { connectionId })) refuse('transfer_active')
  const of = { accountId: account.id, connectionId }
  const before = await readState(tx, of, deps)
  if (body.tables) return resetTables(tx, { ...body, tables: body.tables }, { of, before }, deps)
  const forgetsCursor = body.cursor || body.slot
  if (forgetsCursor) await queries.forgetCursor.run(tx, { connectionId, salt: newIdentifier() })
  if (forgetsCursor || body.rows) await queries.forgetAnnounced.run(tx, { connectionId })
  // The keys of a mirror stay, so that it removes what left the source meanwhile. A connection that was a mirror begins anew.
  if (body.rows && mirrorsRows(row.destConfig)) await forgetRows(tx, connectionId)
  else if (body.rows) await forgetDigests.run(tx, { connectionId })
  if (body.slot) await leaveLogs.run(tx, { connectionId })
  const what = [forgetsCursor && 'cursor', body.rows && 'rows', body.slot && 'slot'].filter(
    (name) => typeof name === 'string',
  )
  if (what.length > 0) await queries.recordReset.run(tx, { connectionId, what: what.join(' ') })
  const reply = await readState(tx, of, deps)
  return { reply, audited: { before, after: { ...reply, forgotten: what } } }
}

/** Forgets the cursors of some of many tables. */
async function resetTables(
  tx: Transaction,
  { cursor, rows, slot, tables: names }: BodyOf<'resetConnectionState'> & { tables: string[] },
  { of, before }: { of: { accountId: string; connectionId: string }; before: ConnectionState },
  deps: TransferDeps,
): Promise<Answer<'resetConnectionState'>> {
  if (!cursor || rows || slot) {
    refuse('invalid_request', [{ field: 'body.tables', message: 'needs cursor, and neither rows nor slot' }])
  }
  const { connectionId } = of
  await requireTables(tx, connectionId, names)
  await queries.forgetTables.run(tx, { connectionId, names, salt: newIdentifier() })
  await queries.recordState.run(tx, { connectionId, of: nameTables(names), what: 'tables reset' })
  const reply = await readState(tx, of, deps)
  return { reply, audited: { before, after: { ...reply, forgotten: ['cursor'], tables: names } } }
}
