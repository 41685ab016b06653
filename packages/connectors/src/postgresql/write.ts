import {
  type Batch,
  ConnectorError,
  type Delivery,
  type DestinationContext,
  type DestinationWriter,
  type Rejection,
  type Row,
} from '@penstock/connector'
import pg from 'pg'
import { packRejections, unpackRejections } from '../databases/rejections.ts'
import { placeOf, writingOf } from '../databases/settings.ts'
import { HalfCharacter } from '../databases/tab-separated.ts'
import { isRowError } from './errors.ts'
import { type LoadJob, load, unwritable } from './load.ts'
import { loadRowByRow } from './load-row-by-row.ts'
import { openSession, type PostgresSession } from './session.ts'
import { openTable, type PostgresTable } from './table.ts'
import { bytesFormatOf, type PostgresCellWriter, writerFor } from './writers.ts'

/**
 * Bounds for a lock and for a statement, and times as they are meant; and rules that could wait for the commit are
 * checked row by row, so that it is known which row breaks them.
 */
const begin = [
  'begin',
  "set local lock_timeout = '60s'",
  "set local statement_timeout = '15min'",
  "set local datestyle = 'ISO, YMD'",
  "set local timezone = 'UTC'",
  "set local intervalstyle = 'postgres'",
  'set local client_min_messages = error',
  'set constraints all immediate',
]

const keptDays = 30

const beginBoundMs = 30_000
/** More than the server's own bound for any of the statements, which says more about what happened. */
const deliverBoundMs = 1_800_000

/** Opens a writer: finds the table, and what it lacks. */
export async function open(context: DestinationContext): Promise<DestinationWriter> {
  const place = placeOf(context.secrets, 5432)
  const writing = writingOf(context.settings, 'public')
  const bytesFormat = bytesFormatOf(context.settings)
  let session = await openSession(context, place)
  let table: PostgresTable
  try {
    table = await session.guard(() => openTable(session, writing, context.columns))
  } catch (error) {
    await session.close()
    throw error
  }
  const writers = table.columns.map((column) => writerFor(column, bytesFormat))
  /**
   * A connection with a transaction that begins with these statements, and how many rows each of them changed; a new one
   * where the last did not outlive the time between batches.
   */
  const begun = async (statements: readonly string[]) => {
    context.signal.throwIfAborted()
    const run = async (current: PostgresSession) =>
      (await current.execute([...begin, ...statements])).slice(begin.length)
    if (session.alive) {
      try {
        return { session, changed: await session.guard(() => run(session), beginBoundMs) }
      } catch (problem) {
        if (!(problem instanceof ConnectorError) || problem.action !== 'retry') throw problem
      }
    }
    session.abandon()
    await session.close()
    session = await openSession(context, place)
    return { session, changed: await session.guard(() => run(session)) }
  }
  return {
    async deliver(batch) {
      const name = nameOf(context.transferId, batch)
      // Waits here for another worker that writes this same batch at this time.
      const { session: current, changed } = await begun([
        `insert into ${table.batches} (transfer_id, batch_key, rows, bytes) values (${name}, 0, 0) on conflict do nothing`,
        'savepoint rows',
      ])
      const isNew = changed[0] === 1
      try {
        return await current.guard(
          () => (isNew ? deliver(current, table, writers, name, batch) : recall(current, table, name)),
          deliverBoundMs,
        )
      } catch (problem) {
        // What a half-known state of the transaction leaves open, the end of the connection settles.
        current.abandon()
        throw problem
      }
    },
    flush: async () => undefined,
    async finish() {
      const { session: current } = await begun([])
      // Batches of so long ago do not come again. A user who may not delete simply keeps them.
      await current
        .guard(() =>
          current.execute([
            `delete from ${table.batches} where delivered_time < now() - make_interval(days => ${keptDays})`,
            'commit',
          ]),
        )
        .catch(() => current.abandon())
    },
    abort: async () => {},
    close: () => session.close(),
  }
}

/** By what a batch is known, as the values of a statement. */
const nameOf = (transferId: string, { key }: Batch): string =>
  `${pg.escapeLiteral(transferId)}, ${pg.escapeLiteral(key)}`

/** Writes a batch within the transaction that has noted it, and commits it. */
async function deliver(
  session: PostgresSession,
  table: PostgresTable,
  writers: readonly PostgresCellWriter[],
  name: string,
  batch: Batch,
): Promise<Delivery> {
  const { bytes, rejected: rejections } = await write(session, table, writers, batch.rows)
  const accepted = batch.rows.length - rejections.reduce((sum, { count = 1 }) => sum + count, 0)
  const packed = rejections.length > 0 ? JSON.stringify(packRejections(rejections)) : null
  const rejectedLiteral = packed === null ? 'null' : pg.escapeLiteral(packed)
  await session.execute([
    `update ${table.batches} set rows = ${accepted}, bytes = ${bytes}, rejected = ${rejectedLiteral}
     where (transfer_id, batch_key) = (${name})`,
    'commit',
  ])
  return { bytes, ...(packed === null ? {} : { rejected: unpackRejections(JSON.parse(packed)) }) }
}

type Written = { readonly bytes: number; readonly rejected: readonly Rejection[] }

/** Writes the rows that the table takes. @param halves whether each text is looked at for half a character first */
async function write(
  session: PostgresSession,
  table: PostgresTable,
  writers: readonly PostgresCellWriter[],
  rows: readonly Row[],
  halves = false,
): Promise<Written> {
  const { rejected, picked } = unwritable(table, writers, rows, { halves })
  if (picked?.length === 0) return { bytes: 0, rejected }
  const job = { session, table, writers, rows, picked }
  try {
    const written = (await loadWhole(job)) ?? (await loadRowByRow(job))
    return { bytes: written.bytes, rejected: [...rejected, ...written.rejected] }
  } catch (error) {
    if (!(error instanceof HalfCharacter) || halves) throw error
    await session.execute(['rollback to savepoint rows'])
    return write(session, table, writers, rows, true)
  }
}

/** Writes all rows at once; `undefined` where that was undone, because the table did not take each of them. */
async function loadWhole(job: LoadJob): Promise<Written | undefined> {
  try {
    const { bytes, leftOut } = await load(job)
    if (leftOut === 0) return { bytes, rejected: [] }
  } catch (error) {
    if (!isRowError(error)) throw error
  }
  await job.session.execute(['rollback to savepoint rows'])
  return undefined
}

/** What became of a batch that was written before. */
async function recall(session: PostgresSession, table: PostgresTable, name: string): Promise<Delivery> {
  const [written] = await session.rows(
    `select bytes, coalesce(rejected, '[]') as rejected from ${table.batches} where (transfer_id, batch_key) = (${name})`,
    { bytes: 'integer', rejected: 'json' },
  )
  await session.execute(['commit'])
  const rejected = unpackRejections(written?.rejected)
  return { bytes: written?.bytes ?? 0, ...(rejected.length > 0 ? { rejected } : {}) }
}
