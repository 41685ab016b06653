import {
  type Chunk,
  ConnectorError,
  type Finding,
  type Json,
  type SourceContext,
  type SourceReader,
} from '@penstock/connector'
import { afterIn } from '../../databases/checkpoints.ts'
import { chunksOf } from '../../databases/chunks.ts'
import { changeSettingsOf, placeBehind } from '../../databases/row-changes.ts'
import { inSession } from '../../databases/sessions.ts'
import { type Place, placeOf, type Reading, readingOf } from '../../databases/settings.ts'
import { beginReading, rowsOf } from '../read.ts'
import { openSession, type PostgresSession } from '../session.ts'
import { type Prepared, prepareReading } from './prepare.ts'
import { changeColumns, copiedCells, rowsOfChanges } from './rows.ts'
import {
  type ChangesPlace,
  confirmChanges,
  ensureSlot,
  keptBytes,
  type Present,
  placeOfChanges,
  presentOf,
  requireChanges,
} from './slot.ts'
import { lsnText, snapshotIn } from './snapshot.ts'
import { type Cursor, cursorIn, identityOf, lsnOf, type Stage, seenIn, stageIn } from './stages.ts'
import { assertSame, type Stamp } from './stamp.ts'
import { changesOf, type Position, type RowChange } from './stream.ts'

/** Of a cursor, which may hold 16 KiB. */
const snapshotLengthMax = 8_000
const rowsMax = 5_000
const nothing = { rows: [], bytes: 0 }
const bytesMax = 1024 * 1024
/** From here on a preview says how much the server keeps for the slot. */
const keptBytesMax = 1024 ** 3

/**
 * Reads a table, and in later transfers what was changed since, from a replication slot. The slot moves on only when a transfer
 * begins, to where the one before was confirmed.
 */
export async function openChanges(context: SourceContext): Promise<SourceReader> {
  const { settings } = context
  const reading = { ...readingOf(settings, 'public'), cursor: undefined }
  const changes = placeOfChanges(settings)
  const place = placeOf(context.secrets, 5432)
  const connect = () => openSession(context, place)
  const cursor = cursorIn(context.cursor, identityOf(changes))
  const prepare = async (session: PostgresSession) => {
    await session.execute(beginReading)
    const prepared = await prepareReading(session, { reading, changes, context })
    if (cursor?.table && !context.sample) await assertUnchanged(session, cursor.table, prepared)
    await session.execute(['commit'])
    return prepared
  }
  const prepared = await inSession(await connect(), prepare, reading.waitMs)
  const { plan } = prepared
  if (!context.sample) await settleSlot(await connect(), changes, cursor)
  const reader = new ChangesReader({
    place,
    reading,
    changes,
    prepared,
    cursor,
    messagesMax: changeSettingsOf(settings).changesMax,
    connect,
    sample: !!context.sample,
  })
  return {
    ...(cursor || plan.rowsEstimated === undefined ? {} : { total: { rows: plan.rowsEstimated } }),
    follows: cursor ? 'changes' : 'whole',
    read: (after, until) => reader.read(after, until),
    findings: (boundMs) => findingsOf(connect, changes, boundMs),
    close: () => reader.close(),
  }
}

/** Asserts that the changes since a place are those of the table as it is now. Throws `changes_lost`. */
const assertUnchanged = (session: PostgresSession, stored: Stamp, prepared: Prepared): Promise<void> =>
  assertSame(session, { stored, now: prepared.stamp }, prepared.table, {
    isOfMany: prepared.publication.isOfMany,
    deletes: prepared.rows.deletes,
  })

/** Moves the slot to what was confirmed, or makes it. */
const settleSlot = (session: PostgresSession, { slot }: ChangesPlace, cursor: Cursor | undefined): Promise<void> =>
  inSession(session, async () => {
    if (cursor) await confirmChanges(session, slot, lsnOf(cursor.lsn))
    else await ensureSlot(session, slot)
  })

type ReaderDeps = {
  readonly place: Place
  readonly reading: Reading
  readonly changes: ChangesPlace
  readonly prepared: Prepared
  readonly cursor: Cursor | undefined
  /** After about so many messages of the slot a transfer ends. */
  readonly messagesMax: number
  readonly connect: () => Promise<PostgresSession>
  readonly sample: boolean
}

/** A place behind a change, and when the last change before it was committed. */
type Behind = Position & Pick<Extract<Stage, { phase: 'changes' }>, 'readMs'>

class ChangesReader {
  readonly #deps: ReaderDeps
  readonly #columns: readonly string[]
  readonly #types: Chunk['types']
  #session: PostgresSession | undefined
  #helper: PostgresSession | undefined

  constructor(deps: ReaderDeps) {
    this.#deps = deps
    const { plan, rows } = deps.prepared
    this.#columns = [...plan.columns, ...(rows.withChange ? changeColumns : [])]
    this.#types = plan.types && [...plan.types, ...(rows.withChange ? [null, { kind: 'instant' } as const, null] : [])]
  }

  async *read(after?: Json, until?: Json): AsyncGenerator<Chunk> {
    const session = await this.#deps.connect()
    this.#session = session
    try {
      yield* this.#chunks(session, stageIn(after), stageIn(until))
      await session.close()
    } finally {
      await this.close()
    }
  }

  async close(): Promise<void> {
    for (const session of [this.#session, this.#helper]) {
      session?.abandon()
      await session?.close()
    }
  }

  async *#chunks(session: PostgresSession, after: Stage | undefined, last: Stage | undefined): AsyncGenerator<Chunk> {
    const { cursor, changes, sample, prepared, reading } = this.#deps
    const { stamp: table } = prepared
    if (sample) {
      yield* this.#copy(session, { phase: 'copy', lsn: '0/0', snapshot: '', at: null, table })
      return
    }
    const until = await session.guard(() => presentOf(session))
    let spot: Stage
    if (after) {
      const stored = after.table
      if (stored) await session.guard(() => assertUnchanged(session, stored, prepared), reading.waitMs)
      spot = { ...after, table }
    } else if (cursor) {
      const { of: _, ...position } = cursor
      spot = { phase: 'changes', ...position, table, ...untilOf(until) }
    } else spot = await this.#beginCopy(session)
    // The slot stays where the transfer began: it may have to be opened there again.
    if (after) await session.guard(() => requireChanges(session, changes.slot, lsnOf(after.lsn)))
    if (spot.phase === 'copy') {
      const { lsn } = spot
      const snapshot = yield* this.#copy(session, spot, last)
      if (last) return
      spot = {
        phase: 'changes',
        lsn,
        taken: 0,
        snapshot,
        table,
        ...untilOf(await session.guard(() => presentOf(session))),
      }
      yield this.#chunk(nothing, spot)
    }
    yield* this.#changes(session, spot)
  }

  /** The place of the slot before the snapshot: no change is between them. */
  async #beginCopy(session: PostgresSession): Promise<Extract<Stage, { phase: 'copy' }>> {
    const { confirmedLsn } = await session.guard(() => ensureSlot(session, this.#deps.changes.slot))
    return { phase: 'copy', lsn: lsnText(confirmedLsn), snapshot: '', at: null, table: this.#deps.prepared.stamp }
  }

  /** @returns what the copy has seen */
  async *#copy(
    session: PostgresSession,
    from: Extract<Stage, { phase: 'copy' }>,
    last?: Stage,
  ): AsyncGenerator<Chunk, string> {
    const { reading, sample, prepared } = this.#deps
    const { plan, rows, stamp } = prepared
    await session.guard(() => session.execute(beginReading))
    // After an interruption another snapshot is read; the first one says which changes come again.
    const snapshot = from.snapshot || (await session.guard(() => snapshotOf(session)))
    const spot = (from.at === null ? undefined : afterIn(from.at, plan.order.length)) ?? {
      after: undefined,
      skip: 0,
      bound: undefined,
    }
    const checkpointAt = (at: Json) => ({ phase: 'copy', lsn: from.lsn, snapshot, at, table: { ...stamp } })
    const shown = { columns: this.#columns, ...(this.#types && { types: this.#types }) }
    // Rows that arrive before the snapshot is known would not get the changes that a later one has seen.
    if (from.snapshot === '' && !sample) yield { ...shown, ...nothing, checkpoint: checkpointAt(null), settles: true }
    const upTo = last?.phase === 'copy' ? afterIn(last.at, plan.order.length)?.after : undefined
    const found = rowsOf(session, plan, { ...spot, upTo }, reading.waitMs)
    for await (const chunk of chunksOf({ ...plan, incremental: false, places: !plan.digest }, spot, found)) {
      const { checkpointAfter } = chunk
      yield {
        ...chunk,
        ...shown,
        rows: rows.withChange ? chunk.rows.map((row) => [...row, ...copiedCells]) : chunk.rows,
        checkpoint: checkpointAt(chunk.checkpoint),
        ...(checkpointAfter && { checkpointAfter: (count) => checkpointAt(checkpointAfter(count)) }),
      }
    }
    await session.guard(() => session.execute(['commit']))
    return snapshot
  }

  async *#changes(session: PostgresSession, spot: Extract<Stage, { phase: 'changes' }>): AsyncGenerator<Chunk> {
    const { changes, reading, prepared } = this.#deps
    const until = lsnOf(spot.until)
    const seen = seenIn(spot.snapshot)
    const from: Position = { lsn: lsnOf(spot.lsn), taken: spot.taken }
    /** Changes, and the place behind each. */
    const waiting = new Map<RowChange, Behind>()
    let bytes = 0
    let [begin, at]: [Behind, Behind] = [
      { ...from, readMs: spot.readMs },
      { ...from, readMs: spot.readMs },
    ]
    const take = async (): Promise<Chunk> => {
      const places = { behind: new Map(waiting), begin, end: at }
      const { changes: changed, ...made } = await rowsOfChanges([...waiting.keys()], prepared.rows, () =>
        this.#helping(),
      )
      waiting.clear()
      bytes = 0
      begin = at
      const stageAt = ({ lsn, taken, readMs }: Behind) => ({ ...spot, lsn: lsnText(lsn), taken, readMs })
      const cursorAfter = (rows: number) =>
        this.#chunk(nothing, stageAt(placeBehind(changed, rows, places))).cursor as Json
      return { ...this.#chunk(made, stageAt(at)), cursorAfter }
    }
    await session.guard(() => session.execute(beginReading))
    const { messagesMax } = this.#deps
    const steps = changesOf(
      session,
      changes,
      { oid: prepared.table.oid, seen, from, until, messagesMax },
      reading.waitMs,
    )
    let isWhole = false
    for (;;) {
      const next = await steps.next()
      if (next.done) {
        isWhole = next.value
        break
      }
      for (const { change, at: behind } of next.value) {
        if (change?.kind === 'truncate' && prepared.rows.deletes !== 'add') {
          if (waiting.size > 0) yield await take()
          throw truncated(changes, change)
        }
        at = { ...behind, readMs: at.readMs }
        if (!change) continue
        at = { ...at, readMs: change.committedMs }
        waiting.set(change, at)
        bytes += change.bytes
        if (waiting.size >= rowsMax || bytes >= bytesMax) yield await take()
      }
    }
    await session.guard(() => session.execute(['commit']))
    if (waiting.size > 0) yield await take()
    // Also what was committed elsewhere is behind now, so that the server need not keep it.
    const { snapshot: _, ...behind } = spot
    const end = isWhole
      ? { ...behind, lsn: spot.until, taken: 0, readMs: spot.untilMs }
      : { ...spot, lsn: lsnText(at.lsn), taken: at.taken, readMs: at.readMs }
    yield this.#chunk(nothing, end)
  }

  #chunk(made: Pick<Chunk, 'rows' | 'removed' | 'bytes'>, spot: Extract<Stage, { phase: 'changes' }>): Chunk {
    const { until, untilMs, phase, table: _, readMs, ...place } = spot
    const table = { ...this.#deps.prepared.stamp }
    const position = { ...place, ...(readMs !== undefined && { readMs }) }
    const cursor = { of: identityOf(this.#deps.changes), ...position, table } satisfies Cursor
    return {
      columns: this.#columns,
      ...(this.#types && { types: this.#types }),
      ...made,
      checkpoint: { phase, until, ...(untilMs !== undefined && { untilMs }), ...position, table },
      cursor,
      ...(made.rows.length === 0 && { settles: true }),
    }
  }

  /** A second session, for what is looked up while changes arrive on the first one. */
  async #helping(): Promise<PostgresSession> {
    if (this.#helper?.alive) return this.#helper
    const helper = await this.#deps.connect()
    this.#helper = helper
    await helper.guard(() =>
      helper.execute(beginReading.map((statement) => statement.replace(/^set local/, 'set')).slice(1)),
    )
    return helper
  }
}

const untilOf = ({ lsn, ms }: Present) => ({ until: lsnText(lsn), untilMs: ms })

async function snapshotOf(session: PostgresSession): Promise<string> {
  const [row] = await session.rows(`select pg_current_snapshot()::text as snapshot`, { snapshot: 'text' })
  const snapshot = row?.snapshot ?? ''
  if (!snapshotIn(snapshot)) throw session.unexpected('a snapshot that is none')
  if (snapshot.length <= snapshotLengthMax) return snapshot
  throw new ConnectorError('conflict', 'Too many transactions are running for a copy to begin.')
}

async function findingsOf(
  connect: () => Promise<PostgresSession>,
  { slot }: ChangesPlace,
  boundMs: number,
): Promise<Finding[]> {
  try {
    const bytes = await inSession(await connect(), (session) => keptBytes(session, slot), boundMs)
    if (bytes < keptBytesMax) return []
    const message = `The server keeps ${(bytes / keptBytesMax).toFixed(1)} GiB of its log for the replication slot ${slot}. Run transfers more often, or drop the slot if nothing reads it any more.`
    return [{ code: 'changes_waiting', message }]
  } catch {
    // A server that is gone by now is no finding.
    return []
  }
}

const truncated = ({ schema, table }: ChangesPlace, { committedMs }: RowChange): ConnectorError =>
  new ConnectorError(
    'changes_lost',
    `${schema}.${table} was truncated at ${new Date(committedMs).toISOString()}, which cannot be done at the destination. Remove the rows there, then reset the state of the connection: the next transfer copies the table again.`,
  )
