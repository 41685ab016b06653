import {
  type Batch,
  type Delivery,
  type DestinationContext,
  type DestinationWriter,
  type Rejection,
  type Row,
  rawOf,
} from '@penstock/connector'
import pg from 'pg'
import { inOrder, packRejections, recalls, unpackRejections } from '../databases/rejections.ts'
import { divideRemovals, hasNotations } from '../databases/removals.ts'
import { inTransaction, WriterSession } from '../databases/sessions.ts'
import { placeOf, writingOf } from '../databases/settings.ts'
import { HalfCharacter } from '../databases/tab-separated.ts'
import { isRowError } from './errors.ts'
import { type LoadJob, load, unwritable } from './load.ts'
import { loadRowByRow } from './load-row-by-row.ts'
import { planRaw } from './raw-write.ts'
import { keyIn, nameKeys, removeFromTable } from './remove.ts'
import { openSession, type PostgresSession } from './session.ts'
import { keepAlivesOf, sessionNameOf, succeed } from './succession.ts'
import { openTable, type PostgresTable } from './table.ts'
import { PostgresWindows } from './window.ts'
import { bytesFormatOf, type PostgresCellWriter, textForms, writerFor } from './writers.ts'

/**
 * Bounds for a lock, for a statement, and for a wait for this process, which may sleep; and times as they are meant; and rules that could wait for the commit are
 * checked row by row, so that it is known which row breaks them.
 */
const begin = [
  'begin',
  "set local lock_timeout = '60s'",
  "set local statement_timeout = '15min'",
  "set local idle_in_transaction_session_timeout = '15s'",
  ...textForms,
  'set local client_min_messages = error',
  'set constraints all immediate',
]

const keptDays = 30

/** Opens a writer: finds the table, and what it lacks. */
export async function open(context: DestinationContext): Promise<DestinationWriter> {
  const place = placeOf(context.secrets, 5432)
  const writing = writingOf(context.settings, 'public')
  const bytesFormat = bytesFormatOf(context.settings)
  const { transferId, attempt } = context
  const connect = async () => {
    const session = await openSession(context, place, sessionNameOf(transferId, attempt))
    try {
      await session.guard(() => succeed(session, transferId, attempt))
      return session
    } catch (error) {
      await session.close()
      throw error
    }
  }
  const { connection, prepared } = await WriterSession.open(context, connect, async (session) => ({
    table: await openTable(session, writing, context),
    opening: [...begin, ...(await keepAlivesOf(session))],
  }))
  const { table, opening } = prepared
  const writers = table.columns.map((column) => writerFor(column, bytesFormat))
  const windows = new PostgresWindows()
  /** A transaction that begins with these statements, and how many rows each of them changed. */
  const beginWith = (statements: readonly string[]) =>
    connection.begin(async (session) => (await session.execute([...opening, ...statements])).slice(opening.length))
  return {
    awaitsPermit: true,
    async deliver(batch, permit) {
      const name = nameOf(batch.transferId ?? transferId, batch)
      // Waits here for another worker that writes this same batch at this time.
      const { session, begun } = await beginWith([
        `insert into ${table.batches} (transfer_id, batch_key, rows, bytes) values (${name}, 0, 0) on conflict do nothing`,
        'savepoint rows',
      ])
      const isNew = begun[0] === 1
      return inTransaction(session, () =>
        isNew
          ? deliver({ session, table, writers, name, windows }, batch, permit)
          : recall(session, table, name, batch),
      )
    },
    ...(!table.keysAreTexts && {
      async nameKeys(keys) {
        const { session } = await beginWith([])
        return inTransaction(session, async () => {
          const names = await nameKeys({ session, table, writers }, keys)
          await session.execute(['commit'])
          return names
        })
      },
    }),
    async finish() {
      const { session } = await beginWith([])
      // Batches of so long ago do not come again. A user who may not delete simply keeps them.
      await session
        .guard(() =>
          session.execute([
            `delete from ${table.batches} where delivered_time < now() - make_interval(days => ${keptDays})`,
            'commit',
          ]),
        )
        .catch(() => session.abandon())
    },
    close: () => connection.close(),
  }
}

/** By what a batch is known, as the values of a statement. */
const nameOf = (transferId: string, { key }: Batch): string =>
  `${pg.escapeLiteral(transferId)}, ${pg.escapeLiteral(key)}`

/** A transaction that has noted its batch, and what it writes with. */
type Noted = {
  readonly session: PostgresSession
  readonly table: PostgresTable
  readonly writers: readonly PostgresCellWriter[]
  readonly name: string
  readonly windows: PostgresWindows
}

/** Writes a batch within the transaction that has noted it, and commits it once it may. */
async function deliver(
  { session, table, writers, name, windows }: Noted,
  batch: Batch,
  permit: Promise<void> | undefined,
): Promise<Delivery> {
  const {
    bytes,
    rejected: rejections,
    isWhole,
  } = batch.removed
    ? await writeAndRemove(session, table, writers, batch)
    : await write(session, table, writers, batch.rows)
  const settle = await windows.replace(session, table, batch, isWhole)
  const accepted = batch.rows.length - rejections.reduce((sum, { count = 1 }) => sum + count, 0)
  const packed = rejections.length > 0 ? JSON.stringify(packRejections(rejections)) : null
  const rejectedLiteral = packed === null ? 'null' : pg.escapeLiteral(packed)
  await permit
  await session.execute([
    `update ${table.batches} set rows = ${accepted}, bytes = ${bytes}, rejected = ${rejectedLiteral}
     where (transfer_id, batch_key) = (${name})`,
    'commit',
  ])
  settle()
  return {
    bytes,
    ...recalls(batch, false),
    ...(packed === null ? {} : { rejected: unpackRejections(JSON.parse(packed)) }),
  }
}

type Written = {
  readonly bytes: number
  readonly rejected: readonly Rejection[]
  /** Whether all rows were written together, and are in the staging table. */
  readonly isWhole: boolean
}

/** Writes the rows of a batch, and removes the ones of which it says so. */
async function writeAndRemove(
  session: PostgresSession,
  table: PostgresTable,
  writers: readonly PostgresCellWriter[],
  batch: Batch,
): Promise<Written> {
  const { rows } = batch
  const divided = divideRemovals(batch, keyIn({ table, writers }))
  const remove = () => removeFromTable({ session, table, writers, rows }, divided.removed)
  const isRemovedFirst = !table.keysAreTexts && hasNotations(rows, table.keys)
  const refusedFirst = isRemovedFirst ? await remove() : []
  await session.execute(['savepoint rows'])
  const written = await write(
    session,
    table,
    writers,
    divided.written.map((at) => rows[at] ?? []),
  )
  const refused = isRemovedFirst ? refusedFirst : await remove()
  const rejected = [
    ...written.rejected.map((one) =>
      one.index === undefined ? one : { ...one, index: divided.written[one.index] ?? 0 },
    ),
    ...refused,
  ]
  return { bytes: written.bytes, rejected: inOrder(rejected), isWhole: written.isWhole && rejected.length === 0 }
}

/** Writes the rows that the table takes. @param halves whether each text is looked at for half a character first */
async function write(
  session: PostgresSession,
  table: PostgresTable,
  writers: readonly PostgresCellWriter[],
  rows: readonly Row[],
  halves = false,
): Promise<Written> {
  if (rows.length === 0) return { bytes: 0, rejected: [], isWhole: true }
  const raw = rawToWrite(table, rows)
  const { rejected, picked } = raw
    ? unwritable(table, writers, raw.watched, { halves }, (column) => raw.plan.watched.includes(column))
    : unwritable(table, writers, rows, { halves })
  if (picked?.length === 0) return { bytes: 0, rejected, isWhole: false }
  const job = { session, table, writers, rows, picked, raw }
  try {
    const written = (await loadWhole(job)) ?? { ...(await loadRowByRow(job)), isWhole: false }
    const isWhole = written.isWhole && rejected.length === 0
    return { bytes: written.bytes, rejected: [...rejected, ...written.rejected], isWhole }
  } catch (error) {
    if (!(error instanceof HalfCharacter) || halves) throw error
    await session.execute(['rollback to savepoint rows'])
    return write(session, table, writers, rows, true)
  }
}

/** Raw rows, how they are written, and the values of the columns that are looked at; `undefined` if the rows are values. */
function rawToWrite(table: PostgresTable, rows: readonly Row[]) {
  const raw = rawOf(rows)
  if (!raw) return undefined
  const plan = planRaw(raw, table)
  return plan && { rows: raw, plan, watched: plan.watched.length > 0 ? raw.opened(plan.watched) : rows }
}

/**
 * Writes all rows together, and tries the ones that the server names for bad one by one, to know why; `undefined` if that was rolled back
 * because the table did not accept every other row.
 */
async function loadWhole(job: LoadJob): Promise<Written | undefined> {
  try {
    const { bytes, leftOut, refused } = await load(job)
    if (leftOut === 0 && refused.length === 0) return { bytes, rejected: [], isWhole: true }
    if (leftOut === 0) {
      const single = await loadRowByRow({ ...job, picked: refused })
      return { bytes: bytes + single.bytes, rejected: single.rejected, isWhole: false }
    }
  } catch (error) {
    if (!isRowError(error)) throw error
  }
  await job.session.execute(['rollback to savepoint rows'])
  return undefined
}

/** The delivery of a batch that was written before. */
async function recall(session: PostgresSession, table: PostgresTable, name: string, batch: Batch): Promise<Delivery> {
  const [written] = await session.rows(
    `select bytes, coalesce(rejected, '[]') as rejected from ${table.batches} where (transfer_id, batch_key) = (${name})`,
    { bytes: 'integer', rejected: 'json' },
  )
  await session.execute(['commit'])
  const rejected = unpackRejections(written?.rejected)
  return { bytes: written?.bytes ?? 0, ...recalls(batch, true), ...(rejected.length > 0 ? { rejected } : {}) }
}
