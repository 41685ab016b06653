import {
  type Batch,
  type Delivery,
  type DestinationContext,
  type DestinationWriter,
  Outcome,
  type Rejection,
} from '@penstock/connector'
import { packRejections, unpackRejections } from '../databases/rejections.ts'
import { placeOf, writingOf } from '../databases/settings.ts'
import { isRowError } from './errors.ts'
import { load, missingKeys } from './load.ts'
import { loadRowByRow } from './load-row-by-row.ts'
import { openSession, type Session } from './session.ts'
import { openTable, type Table } from './table.ts'
import { writerFor } from './writers.ts'

/**
 * Bounds for a lock and for a statement, and times as they are meant; and rules that could wait for the commit are
 * checked row by row, so that it is known which row breaks them.
 */
const begin = `begin; set local lock_timeout = '60s'; set local statement_timeout = '15min';
  set local datestyle = 'ISO, YMD'; set local timezone = 'UTC'; set constraints all immediate`

const keptDays = 30

const beginBoundMs = 30_000
/** More than the server's own bound for any of the statements, which says more about what happened. */
const deliverBoundMs = 1_800_000

/** Opens a writer: finds the table, and what it lacks. */
export async function open(context: DestinationContext): Promise<DestinationWriter> {
  const place = placeOf(context.secrets, 5432)
  const writing = writingOf(context.settings, 'public')
  let session = await openSession(context, place)
  let table: Table
  try {
    table = await session.guard(() => openTable(session, writing, context.columns))
  } catch (error) {
    await session.close()
    throw error
  }
  /** A connection with a transaction that has begun: a new one where the last did not outlive the time between batches. */
  const begun = async (): Promise<Session> => {
    context.signal.throwIfAborted()
    if (session.alive) {
      try {
        await session.guard(() => session.run(begin), beginBoundMs)
        return session
      } catch (fault) {
        if (!(fault instanceof Outcome) || fault.instruction !== 'retry') throw fault
      }
    }
    session.abandon()
    await session.close()
    session = await openSession(context, place)
    await session.guard(() => session.run(begin))
    return session
  }
  return {
    async deliver(batch) {
      const current = await begun()
      try {
        return await current.guard(async () => {
          const delivery = await deliver(current, table, context.transferId, batch)
          await current.run('commit')
          return delivery
        }, deliverBoundMs)
      } catch (fault) {
        // What a half-known state of the transaction leaves open, the end of the connection settles.
        current.abandon()
        throw fault
      }
    },
    flush: async () => undefined,
    async finish() {
      const current = await begun()
      // Batches of so long ago do not come again. A user who may not delete simply keeps them.
      await current
        .run(`delete from ${table.batches} where delivered_time < now() - make_interval(days => ${keptDays}); commit`)
        .catch(() => current.abandon())
    },
    abort: async () => {},
    close: () => session.close(),
  }
}

/** Writes a batch within the transaction, unless it was written before. */
async function deliver(session: Session, table: Table, transferId: string, batch: Batch): Promise<Delivery> {
  // Whoever else writes this very batch at this moment is waited for here.
  const known = await note(session, table, transferId, batch)
  if (known) return known
  const writers = table.columns.map(writerFor)
  const { rejected, picked } = missingKeys(table, writers, batch)
  const rejections: Rejection[] = [...rejected]
  let bytes = 0
  if (picked === undefined || picked.length > 0) {
    await session.run('savepoint rows')
    const job = { session, table, writers, rows: batch.rows, picked }
    try {
      const loaded = await load(job)
      bytes = loaded.bytes
      rejections.push(...loaded.rejected)
    } catch (error) {
      if (!isRowError(error)) throw error
      await session.run('rollback to savepoint rows')
      const loaded = await loadRowByRow(job)
      bytes = loaded.bytes
      rejections.push(...loaded.rejected)
    }
  }
  const accepted = batch.rows.length - rejections.reduce((sum, { count = 1 }) => sum + count, 0)
  const packed = rejections.length > 0 ? JSON.stringify(packRejections(rejections)) : null
  await session.run(
    `update ${table.batches} set rows = $3, bytes = $4, rejected = $5 where transfer_id = $1 and batch_key = $2`,
    [transferId, batch.key, accepted, bytes, packed],
  )
  return { bytes, ...(packed === null ? {} : { rejected: unpackRejections(JSON.parse(packed)) }) }
}

/** Notes that a batch is being written; answers what became of it where it was written before. */
async function note(session: Session, table: Table, transferId: string, batch: Batch): Promise<Delivery | undefined> {
  const noted = await session.change(
    `insert into ${table.batches} (transfer_id, batch_key, rows, bytes) values ($1, $2, 0, 0) on conflict do nothing`,
    [transferId, batch.key],
  )
  if (noted > 0) return undefined
  const [written] = await session.run<{ bytes: string; rejected: unknown }>(
    `select bytes, rejected from ${table.batches} where transfer_id = $1 and batch_key = $2`,
    [transferId, batch.key],
  )
  const rejected = unpackRejections(written?.rejected)
  return { bytes: Number(written?.bytes ?? 0), ...(rejected.length > 0 ? { rejected } : {}) }
}
