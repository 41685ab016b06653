import { cursorOfParts } from '@penstock/connector'
import { limits, type TransferLogKind } from '@penstock/wire'
import { serviceActor } from '../../audit/record.ts'
import { meet } from '../../connections/connections.ts'
import type { Transaction } from '../../db/database.ts'
import type { Keyring } from '../../secrets/keyring.ts'
import { endTransfer } from '../ending-queries.ts'
import { openJson, places, sealJson } from '../sealed.ts'
import type { WorkRow } from './claim-queries.ts'
import type { SupervisorDeps } from './deps.ts'
import { numbersOf } from './fenced.ts'
import { type PartStanding, transferKeys } from './ledger-writer.ts'
import * as queries from './part-queries.ts'
import { scheduleProbe } from './probe-queries.ts'
import type { LogLine } from './transfer-log.ts'

/** How a transfer ended, or a part of one. */
export type EndOfWork = Omit<Parameters<typeof endTransfer.first>[1], 'id' | 'attempt'> & {
  /** Effect of its error on the connection. */
  readonly connection: 'breakdown' | 'outage' | null
}

const probeFirstSeconds = 60

/** Moves the connection after an error, and has an offline one probed. */
export async function moveConnection(
  tx: Transaction,
  connectionId: string,
  connection: EndOfWork['connection'],
): Promise<void> {
  if (connection && (await meet(tx, connectionId, connection)) && connection === 'outage') {
    await scheduleProbe.run(tx, { connectionId, inSeconds: probeFirstSeconds })
  }
}

/**
 * Ends a part, and with the last one the transfer: with the error of the part that ended first without success, if one did. After an
 * error that other parts would meet as well, parts that no worker has begun are left out.
 * @param lineOf makes a line of the log
 * @returns whether the part was this worker's still
 */
export function endPart(
  { database, keyring }: Pick<SupervisorDeps, 'database' | 'keyring'>,
  work: WorkRow,
  { connection, ...end }: EndOfWork,
  lineOf: (kind: TransferLogKind, text: string) => LogLine,
): Promise<boolean> {
  const { id, attempt, part, connectionId } = work
  return database.transaction(async (tx) => {
    const held = await queries.holdTransferOfPart.first(tx, { id, connectionId })
    const ended = held && (await queries.endPart.first(tx, { id, attempt, part, ...numbersOf(work), ...end }))
    if (!held || !ended) return false
    const log = (kind: TransferLogKind, text: string) =>
      queries.addLogLine.run(tx, {
        id,
        attempt: held.attempt,
        line: JSON.stringify(lineOf(kind, text)),
        linesMax: limits.transferLogLinesMax,
      })
    await log(ended.rejected > 0 ? 'rejected' : 'confirmed', sentenceOf(ended, held.parts, end))
    const isOfAll = connection !== null || end.status === 'cancelled' || end.code === 'run_time_exceeded'
    if (end.status !== 'succeeded') {
      await moveConnection(tx, connectionId, connection)
      if (isOfAll) await queries.skipParts.run(tx, { id })
    }
    const result = await queries.resultOfParts.first(tx, { id })
    if (!result) return true
    const { number, status, code, message, side } = result
    if (status === null) {
      await keepCursors(tx, keyring, work)
      await queries.dropStandings.run(tx, { id })
    }
    const named = number === null || code === null ? message : `Part ${number} of ${held.parts}: ${message}`
    await endTransfer.first(tx, {
      id,
      attempt: held.attempt,
      status: status ?? 'succeeded',
      code,
      message: named,
      side,
    })
    await log('ended', status === null ? 'All parts are delivered and confirmed.' : `Ended: ${named ?? 'cancelled'}`)
    return true
  }, serviceActor)
}

/** Stores where the next transfer continues: behind the rows of all parts, which are delivered. */
async function keepCursors(tx: Transaction, keyring: Keyring, work: WorkRow): Promise<void> {
  const { id, connectionId } = work
  const standings = await queries.standingsOfParts.all(tx, { id })
  const [first] = standings
  if (!first) return
  // Another part may have made the key of the connection since this one was claimed.
  const keys = transferKeys(keyring, { ...work, connectionDataKeyId: first.connectionDataKeyId })
  const cursors = []
  for (const { number, standingSealed } of standings) {
    const at = await openJson(tx, keys.transfer, places.checkpoint(id, number), standingSealed)
    const cursor = (at as PartStanding | null)?.cursor ?? null
    if (cursor !== null) cursors.push(cursor)
  }
  const all = cursorOfParts(cursors)
  if (all === null) return
  const cursor = sealJson(await keys.connection.make(tx), places.cursor(connectionId), all)
  if (cursor) await queries.saveCursorOfParts.run(tx, { id, cursor })
}

function sentenceOf(
  { number, read, accepted, rejected }: { number: number; read: number; accepted: number; rejected: number },
  parts: number,
  { status, code, message }: Pick<EndOfWork, 'status' | 'code' | 'message'>,
): string {
  const count = (n: number) => n.toLocaleString('en')
  const counts = `${count(read)} read, ${count(accepted)} accepted, ${count(rejected)} rejected`
  const error = code === null ? '' : `: ${message} (${code})`
  return `Part ${number} of ${parts} ${status}: ${counts}${error}`
}
