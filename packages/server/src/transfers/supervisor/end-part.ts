import { cursorOfParts } from '@penstock/connector'
import { decide, finalState, isOfOneTable, limits, type TransferErrorCode, type TransferLogKind } from '@penstock/wire'
import { serviceActor } from '../../audit/record.ts'
import { meet } from '../../connections/connections.ts'
import type { Db, Transaction } from '../../db/database.ts'
import type { Keyring } from '../../secrets/keyring.ts'
import { endTransfer } from '../ending-queries.ts'
import { openJson, places, sealJson } from '../sealed.ts'
import type { WorkRow } from './claim-queries.ts'
import type { SupervisorDeps } from './deps.ts'
import { Lost } from './endings.ts'
import { sentenceOfDoubt } from './in-doubt.ts'
import { numbersOf, transferKeys } from './ledger-writer.ts'
import * as queries from './part-queries.ts'
import { scheduleProbe } from './probe-queries.ts'
import { countTables, saveTable } from './table-queries.ts'
import type { LogLine } from './transfer-log.ts'

/** How a part ended, and with it a transfer that has no other one. */
export type EndOfWork = Omit<
  Parameters<typeof queries.endPart.first>[1],
  'id' | 'attempt' | 'part' | 'after' | 'until'
> & {
  /** Effect of its error on the connection. */
  readonly connection: 'breakdown' | 'outage' | null
}

const probeFirstSeconds = 60

/** Moves the connection after an error, and has an offline one probed. */
async function moveConnection(
  tx: Transaction,
  connectionId: string,
  connection: EndOfWork['connection'],
): Promise<void> {
  if (connection && (await meet(tx, connectionId, connection)) && connection === 'outage') {
    await scheduleProbe.run(tx, { connectionId, inSeconds: probeFirstSeconds })
  }
}

/**
 * Ends a part, and its transfer with the last part.
 * @param lineOf makes a line of the log
 * @param also stores what belongs to the success of the only part, in the transaction that ends it
 * @returns whether the part was still this worker's
 * @throws Lost if it was not, and there is something to store with the success
 */
export async function endPart(
  deps: Pick<SupervisorDeps, 'database' | 'keyring'>,
  work: WorkRow,
  end: EndOfWork,
  lineOf: (kind: TransferLogKind, text: string) => LogLine,
  also?: (tx: Transaction) => Promise<void>,
): Promise<boolean> {
  if (work.parts > 1) return endOneOfSeveral(deps, work, end, lineOf)
  const { id, attempt, connectionId, testRows } = work
  const { connection, status, ...result } = end
  if (status === 'skipped') throw new Error('Only a table is skipped')
  const endBoth = async (db: Db) =>
    (await endTransfer.first(db, { id, attempt, status, ...result, cursor: null })) !== undefined
  // A test changes nothing for the transfers that follow.
  const moved = testRows === null ? connection : null
  if (!also && moved === null) return endBoth(deps.database)
  return deps.database.transaction(async (tx) => {
    await also?.(tx)
    const isOwn = await endBoth(tx)
    if (also && !isOwn) throw new Lost()
    if (isOwn) await moveConnection(tx, connectionId, moved)
    return isOwn
  }, serviceActor)
}

/**
 * Ends one of several parts, and with the last one the transfer: with the error of the part that ended first without success, if one did.
 * After an error that other parts would meet as well, parts that no worker has begun are skipped.
 */
function endOneOfSeveral(
  { database, keyring }: Pick<SupervisorDeps, 'database' | 'keyring'>,
  work: WorkRow,
  { connection, ...end }: EndOfWork,
  lineOf: (kind: TransferLogKind, text: string) => LogLine,
): Promise<boolean> {
  const { id, attempt, part, parts, table, connectionId } = work
  return database.transaction(async (tx) => {
    const held = await queries.holdTransferOfPart.first(tx, { id, connectionId })
    if (!held) return false
    if (table !== null && end.status !== 'skipped')
      await saveTable.run(tx, { id, attempt, part, succeeded: end.status === 'succeeded' })
    const ended = await queries.endPart.first(tx, { id, attempt, part, ...numbersOf(work), ...end })
    if (!ended) return false
    const log = (kind: TransferLogKind, text: string) =>
      queries.addLogLine.run(tx, {
        id,
        attempt: held.attempt,
        line: JSON.stringify(lineOf(kind, text)),
        linesMax: limits.transferLogLinesMax,
      })
    await log(ended.rejected > 0 ? 'rejected' : 'confirmed', sentenceOf(ended, work, end))
    const isOfTable = table !== null && end.code !== null && isOfOneTable(end.code)
    const isOfAll =
      (connection !== null && !isOfTable) || end.status === 'cancelled' || end.code === 'run_time_exceeded'
    if (end.status !== 'succeeded') {
      if (!isOfTable) await moveConnection(tx, connectionId, connection)
      if (isOfAll) await queries.skipParts.run(tx, { id })
    }
    const result = await queries.resultOfParts.first(tx, { id })
    if (!result) return true
    const { number, status, code, message, side } = result
    const cursor = status === null && table === null ? await cursorOf(tx, keyring, work) : null
    if (status === null || table !== null) await queries.dropCursorsOfParts.run(tx, { id })
    const partly = status === 'failed' && table !== null ? await partlyMoved(tx, id, result) : undefined
    if (partly) {
      await endTransfer.first(tx, { id, attempt: held.attempt, status: 'succeeded', ...partly, cursor: null })
      await log('ended', `Partial: ${partly.message}`)
      return true
    }
    if (table !== null && code !== null && isOfOneTable(code)) {
      const { connection: effect } = effectOf(code)
      await moveConnection(tx, connectionId, work.testRows === null ? effect : null)
    }
    const doubt = status === null ? '' : await sentenceOfDoubt(tx, id, side)
    const name = result.table === null ? `Part ${number} of ${parts}` : result.table
    const named = number === null || code === null ? message : `${name}: ${message}${doubt}`
    const said = named ?? `cancelled${doubt && `.${doubt}`}`
    await endTransfer.first(tx, {
      id,
      attempt: held.attempt,
      status: status ?? 'succeeded',
      code,
      message: named,
      side,
      cursor,
    })
    const all = table === null ? 'All parts are' : 'All tables are'
    await log('ended', status === null ? `${all} delivered and confirmed.` : `Ended: ${said}`)
    return true
  }, serviceActor)
}

/** Effect of an error that nothing retries any more. */
const effectOf = (code: TransferErrorCode): { connection: EndOfWork['connection'] } => {
  const decision = decide({ code }, finalState)
  return { connection: decision.do === 'end' ? decision.connection : null }
}

/** The error of a transfer some of whose tables were moved; `undefined` if no table was, or tables were skipped because of the error. */
async function partlyMoved(
  tx: Transaction,
  id: string,
  { table, message }: { table: string | null; message: string | null },
): Promise<Pick<EndOfWork, 'code' | 'message' | 'side'> | undefined> {
  const { moved = 0, failed = 0, left = 0 } = (await countTables.first(tx, { id })) ?? {}
  if (moved === 0 || left > 0) return undefined
  const text = `${failed} of ${moved + failed} tables failed. ${table}: ${message}`
  return { code: 'tables_failed', message: text, side: null }
}

/** Where the next transfer continues, sealed: behind the rows of all parts, which are delivered. */
async function cursorOf(tx: Transaction, keyring: Keyring, work: WorkRow): Promise<Buffer | null> {
  const key = transferKeys(keyring, work).connection
  const place = places.cursor(work.connectionId)
  const cursors = []
  for (const { cursorSealed } of await queries.cursorsOfParts.all(tx, { id: work.id })) {
    const cursor = await openJson(tx, key, place, cursorSealed)
    if (cursor !== null) cursors.push(cursor)
  }
  return sealJson(await key.open(tx), place, cursorOfParts(cursors))
}

function sentenceOf(
  { number, read, accepted, rejected }: { number: number; read: number; accepted: number; rejected: number },
  { parts, table }: Pick<WorkRow, 'parts' | 'table'>,
  { status, code, message }: Pick<EndOfWork, 'status' | 'code' | 'message'>,
): string {
  const count = (n: number) => n.toLocaleString('en')
  const counts = `${count(read)} read, ${count(accepted)} accepted, ${count(rejected)} rejected`
  const error = code === null ? '' : `: ${message} (${code})`
  return `${table ?? `Part ${number} of ${parts}`} ${status}: ${counts}${error}`
}
