import {
  type Batch,
  type Delivery,
  type DestinationContext,
  type DestinationWriter,
  Outcome,
  type Rejection,
} from '@penstock/connector'
import { inOrder, packRejections, unpackRejections } from '../databases/rejections.ts'
import { placeOf, writingOf } from '../databases/settings.ts'
import { rowFaultOf } from './errors.ts'
import { insertRows, type Job } from './insert.ts'
import { load } from './load.ts'
import { openSession, type Session } from './session.ts'
import { batchesTable, openTable, type Table } from './table.ts'
import { writerFor } from './writers.ts'

/**
 * A mode of our own, so that a value which does not fit is refused and never changed in silence; times in UTC; and a
 * bound for locks.
 */
const settle = `set session sql_mode = 'STRICT_ALL_TABLES,NO_ENGINE_SUBSTITUTION,NO_AUTO_VALUE_ON_ZERO',
  session time_zone = '+00:00', session sql_notes = 1, session innodb_lock_wait_timeout = 60, session autocommit = 1`

const keptDays = 30

const beginBoundMs = 30_000
const deliverBoundMs = 1_800_000

type Server = { readonly infile: boolean; readonly packetBytes: number }

/** Opens a writer: finds the table, and what it lacks. */
export async function open(context: DestinationContext): Promise<DestinationWriter> {
  const place = placeOf(context.secrets, 3306)
  const writing = writingOf(context.settings, '')
  const connect = async (): Promise<Session> => {
    const opened = await openSession(context, place)
    try {
      await opened.guard(() => opened.run(settle))
      return opened
    } catch (error) {
      await opened.close()
      throw error
    }
  }
  let session = await connect()
  let table: Table
  let server: Server
  try {
    ;({ table, server } = await session.guard(async () => ({
      table: await openTable(session, writing, context.columns),
      server: await serverOf(session),
    })))
  } catch (error) {
    await session.close()
    throw error
  }
  /** A connection with a transaction that has begun: a new one where the last did not outlive the time between batches. */
  const begun = async (): Promise<Session> => {
    context.signal.throwIfAborted()
    if (session.alive) {
      try {
        await session.guard(() => session.run('start transaction'), beginBoundMs)
        return session
      } catch (fault) {
        if (!(fault instanceof Outcome) || fault.instruction !== 'retry') throw fault
      }
    }
    session.abandon()
    await session.close()
    session = await connect()
    await session.guard(() => session.run('start transaction'))
    return session
  }
  return {
    async deliver(batch) {
      const current = await begun()
      try {
        return await current.guard(async () => {
          const delivery = await deliver(current, table, server, context.transferId, batch)
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
      try {
        // Batches of so long ago do not come again. A user who may not delete simply keeps them.
        await current.run(
          `delete from ${batchesTable} where delivered_time < current_timestamp - interval ${keptDays} day`,
        )
        await current.run('commit')
      } catch {
        current.abandon()
      }
    },
    abort: async () => {},
    close: () => session.close(),
  }
}

async function serverOf(session: Session): Promise<Server> {
  const [row] = await session.run<{ local_files: number | string; packet: number | string }>(
    'select @@local_infile as local_files, @@max_allowed_packet as packet',
  )
  return { infile: Number(row?.local_files) === 1, packetBytes: Number(row?.packet) }
}

/** Writes a batch within the transaction, unless it was written before. */
async function deliver(
  session: Session,
  table: Table,
  { infile, packetBytes }: Server,
  transferId: string,
  batch: Batch,
): Promise<Delivery> {
  // Whoever else writes this very batch at this moment is waited for here.
  const known = await note(session, transferId, batch)
  if (known) return known
  const writers = table.columns.map(writerFor)
  const job: Job = { session, table, writers, rows: batch.rows, packetBytes }
  const loadable = infile && table.keys.length === 0 && writers.every((writer) => writer.loadable)
  const loaded = loadable ? await load(job) : undefined
  const { bytes, rejected } = loaded ?? (await insertRows(job))
  const rejections: readonly Rejection[] = inOrder([...rejected])
  const packed = rejections.length > 0 ? JSON.stringify(packRejections(rejections)) : null
  await session.run(
    `update ${batchesTable} set rows_accepted = ?, bytes = ?, rejected = ? where transfer_id = ? and batch_key = ?`,
    [batch.rows.length - rejections.length, bytes, packed, transferId, batch.key],
  )
  return { bytes, ...(rejections.length > 0 ? { rejected: rejections } : {}) }
}

/** Notes that a batch is being written; answers what became of it where it was written before. */
async function note(session: Session, transferId: string, batch: Batch): Promise<Delivery | undefined> {
  try {
    await session.run(
      `insert into ${batchesTable} (transfer_id, batch_key, rows_accepted, bytes) values (?, ?, 0, 0)`,
      [transferId, batch.key],
    )
    return undefined
  } catch (error) {
    if (!rowFaultOf(error)) throw error
  }
  // Read past the transaction's own snapshot, which may be older than what was waited for.
  const [written] = await session.run<{ bytes: string | number; rejected: string | null }>(
    `select bytes, rejected from ${batchesTable} where transfer_id = ? and batch_key = ? lock in share mode`,
    [transferId, batch.key],
  )
  const rejected = unpackRejections(JSON.parse(written?.rejected ?? 'null'))
  return { bytes: Number(written?.bytes ?? 0), ...(rejected.length > 0 ? { rejected } : {}) }
}
