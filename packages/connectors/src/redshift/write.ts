import {
  type Batch,
  ConnectorError,
  type Delivery,
  type DestinationContext,
  type DestinationWriter,
  type Rejection,
} from '@penstock/connector'
import { inOrder, packRejections, unpackRejections } from '../databases/rejections.ts'
import { inTransaction, WriterSession } from '../databases/sessions.ts'
import { placeOf } from '../databases/settings.ts'
import { throwFirst } from '../databases/table-findings.ts'
import { mirrorErrors, nameKeysBy } from '../kit/warehouse/key-names.ts'
import { type JudgedRow, judgeRows } from '../kit/warehouse/rows.ts'
import { sendInHalves, type Taken } from '../platform-api/rows/halving.ts'
import { Refusals } from '../platform-api/rows/refusals.ts'
import { isRowError } from '../postgresql/errors.ts'
import type { PostgresSession } from '../postgresql/session.ts'
import { createStage, RedshiftWindows, writeStaged } from './apply.ts'
import { copyFile, reasonOf, stage } from './copy.ts'
import { lineOf, lineTooLong } from './lines.ts'
import { defaultPort, openRedshift, runEach } from './session.ts'
import { openStaging, type Staging } from './staging.ts'
import { isCaseless, openTable, type RedshiftTable, targetOf } from './table.ts'
import { textBytesMax } from './target-columns.ts'

export { inspect, tryRows } from './inspect.ts'

/** Older batches are not repeated. */
const keptDays = 30
/** How long a statement can wait and run. */
const statementTimeoutMs = 900_000
/** The key of the note that the table was emptied for a transfer without a batch. */
const emptiedKey = 'emptied'

type Work = {
  readonly context: DestinationContext
  readonly table: RedshiftTable
  readonly staging: Staging
  readonly refusals: Refusals
  readonly windows: RedshiftWindows
  /** Whether rows of this transfer take the place of all others. */
  readonly replaces: boolean
  /** Makes the name of the next staged file of a batch. */
  readonly nameFor: (batch: Batch) => string
}

/** Opens a writer: finds the table and what it lacks, and removes files that an earlier attempt has left. Empties nothing yet. */
export async function open(context: DestinationContext): Promise<DestinationWriter> {
  const { transferId, attempt, test } = context
  const target = targetOf(context.settings)
  const staging = openStaging(context)
  const place = placeOf(context.secrets, defaultPort)
  const connect = () => openRedshift(context, place, `penstock ${transferId} ${attempt}`)
  const { connection, prepared: table } = await WriterSession.open(context, connect, (session) =>
    openTable(session, target, context.columns),
  )
  const misfits = mirrorErrors(context.settings, table.columns)
  if (misfits.length > 0) await connection.close()
  throwFirst(misfits)
  await staging.clean().catch(async (error: unknown) => {
    await connection.close()
    throw error
  })
  let files = 0
  const work: Work = {
    context,
    table,
    staging,
    refusals: new Refusals('Redshift'),
    windows: new RedshiftWindows(),
    replaces: target.mode === 'Replace' && test !== true,
    nameFor: ({ key }) => `${key}-${attempt}-${++files}`,
  }
  const beginWith = (name: Name) =>
    connection.begin(async (session) => {
      await runEach(session, [`set statement_timeout to ${statementTimeoutMs}`])
      return recall(session, work, name)
    })
  return {
    async deliver(batch) {
      const { session, begun: known } = await beginWith(nameOf(work, batch))
      return inTransaction(session, () => deliver(session, work, batch, known))
    },
    nameKeys: nameKeysBy(table.columns, target.keys, async () => {
      const { session } = await connection.begin(async () => {})
      return session.guard(() => isCaseless(session, table))
    }),
    async finish() {
      const { session, begun: known } = await beginWith(emptiedIn(work))
      if (work.replaces && !known) await inTransaction(session, () => finishEmpty(session, work))
      // For a user who is not allowed to delete, the notes simply stay.
      const old = `delete from ${table.batches} where delivered_time < getdate() - interval '${keptDays} days'`
      await session.guard(() => runEach(session, [old])).catch(() => session.abandon())
    },
    abort: async () => {
      await staging.clean().catch(() => {})
    },
    close: () => connection.close(),
  }
}

/** A batch that was written before. */
type Known = { readonly bytes: number; readonly rejected: readonly Rejection[] }

/** By what a batch is known: the transfer, and the key. */
type Name = readonly [transferId: string, key: string]

const nameOf = ({ context }: Pick<Work, 'context'>, { key, transferId = context.transferId }: Batch): Name => [
  transferId,
  key,
]

const emptiedIn = ({ context }: Pick<Work, 'context'>): Name => [context.transferId, emptiedKey]

async function recall(session: PostgresSession, { table }: Work, name: Name): Promise<Known | undefined> {
  const [row] = await session.rows(
    `select byte_count as bytes, rejected from ${table.batches} where transfer_id = $1 and batch_key = $2`,
    { bytes: 'integer', rejected: 'text?' },
    name,
  )
  if (!row) return undefined
  try {
    return { bytes: row.bytes, rejected: unpackRejections(JSON.parse(row.rejected ?? '[]')) }
  } catch {
    throw session.unexpected('a note of a batch that is not JSON')
  }
}

/** Loads a batch into the stage, and writes it from there in one transaction with the note of it. */
async function deliver(
  session: PostgresSession,
  work: Work,
  batch: Batch,
  known: Known | undefined,
): Promise<Delivery> {
  const { table, refusals } = work
  const { items, doubtful } = judgeRows(table.columns, batch)
  if (known) return deliveryOf(known, doubtful)
  await createStage(session, table)
  const loaded = await sendInHalves(items, refusals, (part) => load(session, work, batch, part))
  const staged = items.length - loaded.rejected.reduce((sum, { count = 1 }) => sum + count, 0)
  const [found] = await session.rows(`select count(*) as staged from ${stage}`, { staged: 'integer' })
  if (found?.staged !== staged) throw session.unexpected('another number of rows than COPY was given')
  const isWhole = doubtful.length + loaded.rejected.length === 0
  const now = await settle(session, work, { ...loaded, batch, staged, isWhole })
  return deliveryOf(now, doubtful)
}

function deliveryOf({ bytes, rejected }: Known, doubtful: readonly Rejection[]): Delivery {
  const all = inOrder([...doubtful, ...rejected])
  return { bytes, ...(all.length > 0 && { rejected: all }) }
}

/** Puts rows into the bucket, has Redshift load them into the stage, and removes the files. */
async function load(
  session: PostgresSession,
  { context, table, staging, nameFor }: Work,
  batch: Batch,
  items: readonly JudgedRow[],
): Promise<Taken<JudgedRow>> {
  const lines = items.map((item) => lineOf(table.columns, item))
  const tooLong = items.filter((_, at) => lineTooLong(lines[at] ?? ''))
  if (tooLong.length > 0) {
    const reason = 'The row is larger than 4 MB, the most that Redshift loads.'
    return { bytes: 0, refused: reason, blamed: tooLong.map((item) => ({ item, reason })) }
  }
  const staged = await staging.put(nameFor(batch), lines.join(''))
  try {
    const errors = await copyFile(session, staging.client, context.secrets, staged)
    if (!errors) return { bytes: staged.bytes }
    const blamed = errors.flatMap(({ line, column, code }) => {
      const item = items[line - 1]
      const field = batch.columns[Number(/^penstock_(\d{1,4})$/.exec(column)?.[1] ?? Number.NaN)]
      return item ? [{ item, reason: reasonOf(code), ...(field !== undefined && { field }) }] : []
    })
    // A row can have several errors.
    const first = blamed.filter(({ item }, at) => blamed.findIndex((other) => other.item === item) === at)
    return { bytes: staged.bytes, refused: reasonOf(errors[0]?.code ?? 'unknown'), blamed: first }
  } finally {
    await staged.remove()
  }
}

type Loaded = {
  readonly batch: Batch
  readonly staged: number
  readonly bytes: number
  /** Rows that Redshift did not load. */
  readonly rejected: readonly Rejection[]
  readonly isWhole: boolean
}

/** Writes the staged rows, unless another worker has already done so. Resolves with the content of the batch's note. */
async function settle(session: PostgresSession, work: Work, loaded: Loaded): Promise<Known> {
  const { table, windows } = work
  const { batch, staged, bytes, rejected, isWhole } = loaded
  const packed = rejected.length === 0 ? null : JSON.stringify(packRejections(rejected))
  if (packed !== null && Buffer.byteLength(packed) > textBytesMax) {
    throw new ConnectorError('batch_too_large', 'Redshift refused too many rows of a batch to note all of them.')
  }
  await begin(session, work)
  const known = await recall(session, work, nameOf(work, batch))
  if (known) {
    await runEach(session, ['rollback'])
    return known
  }
  await emptyOnce(session, work)
  try {
    await writeStaged(session, table, (batch.removed?.size ?? 0) > 0)
  } catch (error) {
    throw isRowError(error) ? misfit(error.code) : error
  }
  await windows.replace(session, table, batch, isWhole)
  await note(session, work, nameOf(work, batch), [String(staged), String(bytes), packed])
  await runEach(session, ['commit'])
  return { bytes, rejected }
}

/** The table has a rule by which rows were not judged, such as one that was added since. The engine finds the rows. */
const misfit = (state: string | undefined): ConnectorError =>
  new ConnectorError('invalid_batch', `Redshift cannot write a value of the row (SQLSTATE ${state}).`)

/**
 * Begins a transaction in which no other writer writes to this schema. The lock is taken first, so that the transaction sees
 * what was committed before.
 */
const begin = (session: PostgresSession, { table }: Work): Promise<unknown> =>
  runEach(session, ['begin', `lock table ${table.batches}`])

/** Deletes what was there before the first rows of a transfer that replaces it. A test transfer deletes nothing. */
async function emptyOnce(session: PostgresSession, { context, table, replaces }: Work): Promise<void> {
  if (!replaces) return
  const [row] = await session.rows(
    `select count(*) as notes from ${table.batches} where transfer_id = $1`,
    { notes: 'integer' },
    [context.transferId],
  )
  if (row?.notes === 0) await runEach(session, [`delete from ${table.name}`])
}

async function finishEmpty(session: PostgresSession, work: Work): Promise<void> {
  await begin(session, work)
  await emptyOnce(session, work)
  await note(session, work, emptiedIn(work), ['0', '0', null])
  await runEach(session, ['commit'])
}

async function note(
  session: PostgresSession,
  { table }: Work,
  name: Name,
  [rows, bytes, rejected]: readonly [rows: string, bytes: string, rejected: string | null],
): Promise<void> {
  await session.rows(
    `insert into ${table.batches} (transfer_id, batch_key, row_count, byte_count, rejected, delivered_time)
     values ($1, $2, cast($3 as bigint), cast($4 as bigint), $5, getdate())`,
    {},
    [...name, rows, bytes, rejected],
  )
}
