import {
  type Batch,
  ConnectorError,
  type Delivery,
  type DestinationContext,
  type DestinationWriter,
  type Rejection,
} from '@penstock/connector'
import { inOrder, packRejections, recalls, unpackRejections } from '../databases/rejections.ts'
import { divideRemovals, hasNotations } from '../databases/removals.ts'
import { inTransaction, WriterSession } from '../databases/sessions.ts'
import { placeOf, writingOf } from '../databases/settings.ts'
import { rowErrorOf } from './errors.ts'
import { type InsertJob, insertRows } from './insert.ts'
import { load } from './load.ts'
import { invalidAnswer } from './packet-guard.ts'
import { countIn, valueIn } from './raw-rows.ts'
import { keyIn, nameKeys, removeFromTable } from './remove.ts'
import { type MysqlSession, openSession } from './session.ts'
import { batchesTable, type MysqlTable, openTable } from './table.ts'
import { MysqlWindows } from './window.ts'
import { type MysqlCellWriter, writerFor } from './writers.ts'

/**
 * A mode of our own, so that an invalid value is refused and never changed silently; times in UTC; a lock timeout; and
 * shorter bounds for what the server waits for this process: one that sleeps in a transaction would block its successor.
 * MySQL keeps 1024 warnings by default, and only privileged users can change that; the comment is for MariaDB, which keeps 64.
 */
export const settle = `set session sql_mode = 'STRICT_ALL_TABLES,NO_ENGINE_SUBSTITUTION,NO_AUTO_VALUE_ON_ZERO',
  session time_zone = '+00:00', session sql_notes = 1, /*M! session max_error_count = 1024, */ session innodb_lock_wait_timeout = 60, session autocommit = 1,
  session wait_timeout = 20, session net_read_timeout = 20`

const keptDays = 30

/** Properties of a server: whether it takes files, and the bytes of a packet. */
export type Server = { readonly infile: boolean; readonly packetBytes: number }

/** Opens a writer: finds the table, and what it lacks. */
export async function open(context: DestinationContext): Promise<DestinationWriter> {
  const place = placeOf(context.secrets, 3306)
  const writing = writingOf(context.settings, '')
  const connect = async (): Promise<MysqlSession> => {
    const opened = await openSession(context, place, true)
    try {
      await opened.guard(() => opened.run(settle))
      return opened
    } catch (error) {
      await opened.close()
      throw error
    }
  }
  const { connection, prepared } = await WriterSession.open(context, connect, async (session) => ({
    table: await openTable(session, writing, context),
    server: await serverOf(session),
  }))
  const { table, server } = prepared
  const windows = new MysqlWindows()
  const begin = async (batch?: Batch) => {
    const { session } = await connection.begin(async (opened) => {
      if (batch) await windows.prepare(opened, table, batch)
      await opened.run('start transaction')
    })
    return session
  }
  return {
    awaitsPermit: true,
    async deliver(batch, permit) {
      const session = await begin(batch)
      return inTransaction(session, async () => {
        const { delivery, settle } = await deliver(
          session,
          table,
          server,
          batch.transferId ?? context.transferId,
          batch,
          windows,
        )
        await permit
        await session.run('commit')
        settle()
        return delivery
      })
    },
    async nameKeys(keys) {
      const { session } = await connection.begin(async () => {})
      return session.guard(() => nameKeys({ session, table, writers: table.columns.map(writerFor) }, keys))
    },
    async finish() {
      const session = await begin()
      try {
        // Batches of so long ago do not come again. A user who may not delete simply keeps them.
        await session.run(
          `delete from ${batchesTable} where delivered_time < current_timestamp - interval ${keptDays} day`,
        )
        await session.run('commit')
      } catch {
        session.abandon()
      }
    },
    close: () => connection.close(),
  }
}

/** Looks up the properties of a server. Throws `not_supported` if it does not allow the mode of `settle`. */
export async function serverOf(session: MysqlSession): Promise<Server> {
  const { host } = session.place
  const [row] = await session.run(
    'select @@local_infile as local_files, @@max_allowed_packet as packet, @@session.sql_mode as mode',
  )
  if (!valueIn(host, row, 'mode').includes('STRICT_ALL_TABLES')) throw notStrict(host)
  return { infile: valueIn(host, row, 'local_files') === '1', packetBytes: countIn(host, row, 'packet') }
}

const notStrict = (host: string): ConnectorError =>
  new ConnectorError(
    'not_supported',
    `${host} does not allow a session to set its sql_mode to STRICT_ALL_TABLES. Without it, the server would silently change invalid values. Allow it, or connect without the proxy in between.`,
  )

/** Writes a batch within the transaction, unless it was written before. */
async function deliver(
  session: MysqlSession,
  table: MysqlTable,
  { infile, packetBytes }: Server,
  transferId: string,
  batch: Batch,
  windows: MysqlWindows,
): Promise<{ delivery: Delivery; settle: () => void }> {
  // Waits here for another worker that writes this same batch at this time.
  const known = await note(session, transferId, batch)
  if (known) return { delivery: known, settle: () => {} }
  const writers = table.columns.map(writerFor)
  const rowsOf = { session, table, writers, rows: batch.rows }
  const divided = batch.removed && divideRemovals(batch, keyIn(rowsOf))
  const { picked, doubtful } = judge(table, writers, batch, divided?.written)
  const remove = async () => (divided ? removeFromTable(rowsOf, divided.removed) : [])
  const isRemovedFirst = divided !== undefined && hasNotations(batch.rows, table.keys)
  const refusedFirst = isRemovedFirst ? await remove() : []
  const job: InsertJob = { ...rowsOf, picked, packetBytes }
  const loadable = infile && table.keys.length === 0 && writers.every((writer) => writer.loadable) && picked.length > 0
  const loaded = loadable ? await load(job) : undefined
  const { bytes, rejected } = loaded ?? (await insertRows(job))
  const refused = isRemovedFirst ? refusedFirst : await remove()
  const rejections: readonly Rejection[] = inOrder([...doubtful, ...rejected, ...refused])
  const packed = rejections.length > 0 ? JSON.stringify(packRejections(rejections)) : null
  await session.run(
    `update ${batchesTable} set rows_accepted = ?, bytes = ?, rejected = ? where transfer_id = ? and batch_key = ?`,
    [batch.rows.length - rejections.length, bytes, packed, transferId, batch.key],
  )
  const settle = await windows.replace(session, table, batch, rejections.length === 0, packetBytes)
  return {
    delivery: { bytes, ...recalls(batch, false), ...(rejections.length > 0 ? { rejected: rejections } : {}) },
    settle,
  }
}

/**
 * Which rows the table holds just as they are, and why it does not hold the others.
 * @param written indexes of the rows that it is to hold; by default all
 */
export function judge(
  table: MysqlTable,
  writers: readonly MysqlCellWriter[],
  { rows }: Pick<Batch, 'rows'>,
  written: Iterable<number> = rows.keys(),
): { picked: number[]; doubtful: Rejection[] } {
  const picked: number[] = []
  const doubtful: Rejection[] = []
  for (const index of written) {
    const row = rows[index] ?? []
    const [first, ...others] = writers.flatMap((writer, at) => {
      const reason = writer.doubt(writer.text(row[at] ?? null))
      return reason === undefined ? [] : [{ reason, field: table.columns[at]?.name ?? '' }]
    })
    if (first) doubtful.push({ index, ...first, ...(others.length > 0 && { others }) })
    else picked.push(index)
  }
  return { picked, doubtful }
}

/** Records that a batch is being written. Resolves with its delivery if it was written before. */
async function note(session: MysqlSession, transferId: string, batch: Batch): Promise<Delivery | undefined> {
  const { host } = session.place
  try {
    const { rows } = await session.change({
      sql: `insert into ${batchesTable} (transfer_id, batch_key, rows_accepted, bytes) values (?, ?, 0, 0)`,
      values: [transferId, batch.key],
    })
    if (rows === 1) return undefined
    throw invalidAnswer(host, 'it did not write down the batch, and names no reason')
  } catch (error) {
    if (!rowErrorOf(error)) throw error
  }
  // Read past the transaction's own snapshot, which may be older than what was waited for.
  const [written] = await session.run(
    `select bytes, rejected from ${batchesTable} where transfer_id = ? and batch_key = ? lock in share mode`,
    [transferId, batch.key],
  )
  const rejected = notedRejections(host, written?.rejected ?? null)
  return {
    bytes: countIn(host, written, 'bytes'),
    ...recalls(batch, true),
    ...(rejected.length > 0 ? { rejected } : {}),
  }
}

/** The rejections that this connector recorded for a batch. Throws if it cannot have recorded this text. */
function notedRejections(host: string, text: string | null): Rejection[] {
  let rejections: Rejection[] | undefined
  try {
    rejections = unpackRejections(JSON.parse(text ?? 'null'))
  } catch {
    // Judged below.
  }
  const good = rejections?.every(
    ({ index, reason, field = '' }) =>
      Number.isSafeInteger(index) && Number(index) >= 0 && isShort(reason) && isShort(field),
  )
  if (rejections && good) return rejections
  throw invalidAnswer(host, `what the table ${batchesTable} notes of a batch is not what this connector writes there`)
}

const isShort = (text: unknown): boolean => typeof text === 'string' && text.length <= 1000
