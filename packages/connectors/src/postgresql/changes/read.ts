import {
  type Chunk,
  ConnectorError,
  type Finding,
  type Json,
  type SourceContext,
  type SourceReader,
  type Values,
} from '@penstock/connector'
import { afterIn } from '../../databases/checkpoints.ts'
import { chunksOf } from '../../databases/chunks.ts'
import { changeSettingsOf } from '../../databases/row-changes.ts'
import { inSession } from '../../databases/sessions.ts'
import { type Place, placeOf, type Reading, readingOf } from '../../databases/settings.ts'
import { type PostgresPlan, planReading } from '../plan.ts'
import { beginReading, rowsOf } from '../read.ts'
import { openSession, type PostgresSession } from '../session.ts'
import { nameOf } from '../table.ts'
import { type ChangeRows, changeColumns, copiedCells, rowsOfChanges } from './rows.ts'
import {
  type ChangesPlace,
  checkPublication,
  confirmChanges,
  currentLsn,
  ensureSlot,
  keptBytes,
  requireChanges,
} from './slot.ts'
import { lsnText, snapshotIn } from './snapshot.ts'
import { type Cursor, cursorIn, identityOf, lsnOf, type Stage, seenIn, stageIn } from './stages.ts'
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
  const prepare = async (session: PostgresSession) => {
    await session.execute(beginReading)
    const plan = await planReading(session, reading, context)
    const rows = await rowsTable(session, plan, changes, settings)
    await checkPublication(session, changes, rows.keys)
    await session.execute(['commit'])
    return { plan, rows }
  }
  const { plan, rows } = await inSession(await connect(), prepare, reading.waitMs)
  const cursor = cursorIn(context.cursor, identityOf(changes))
  if (!context.sample) await settleSlot(await connect(), changes, cursor)
  const reader = new ChangesReader({
    place,
    reading,
    changes,
    plan,
    rows,
    cursor,
    messagesMax: changeSettingsOf(settings).changesMax,
    connect,
    sample: !!context.sample,
  })
  return {
    ...(cursor || plan.rowsEstimated === undefined ? {} : { total: { rows: plan.rowsEstimated } }),
    read: (after, until) => reader.read(after, until),
    findings: (boundMs) => findingsOf(connect, changes, boundMs),
    close: () => reader.close(),
  }
}

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
  readonly plan: PostgresPlan
  readonly rows: ChangeRows
  readonly cursor: Cursor | undefined
  /** After about so many messages of the slot a transfer ends. */
  readonly messagesMax: number
  readonly connect: () => Promise<PostgresSession>
  readonly sample: boolean
}

class ChangesReader {
  readonly #deps: ReaderDeps
  readonly #columns: readonly string[]
  readonly #types: Chunk['types']
  #session: PostgresSession | undefined
  #helper: PostgresSession | undefined

  constructor(deps: ReaderDeps) {
    this.#deps = deps
    const { plan, rows } = deps
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
    const { cursor, changes, sample } = this.#deps
    if (sample) {
      yield* this.#copy(session, { phase: 'copy', lsn: '0/0', snapshot: '', at: null })
      return
    }
    const until = await session.guard(() => currentLsn(session))
    let spot: Stage
    if (after) spot = after
    else if (cursor) {
      const { of: _, ...position } = cursor
      spot = { phase: 'changes', ...position, until: lsnText(until) }
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
        until: lsnText(await session.guard(() => currentLsn(session))),
      }
      yield this.#chunk(nothing, spot)
    }
    yield* this.#changes(session, spot)
  }

  /** The place of the slot before the snapshot: no change is between them. */
  async #beginCopy(session: PostgresSession): Promise<Extract<Stage, { phase: 'copy' }>> {
    const { confirmedLsn } = await session.guard(() => ensureSlot(session, this.#deps.changes.slot))
    return { phase: 'copy', lsn: lsnText(confirmedLsn), snapshot: '', at: null }
  }

  /** @returns what the copy has seen */
  async *#copy(
    session: PostgresSession,
    from: Extract<Stage, { phase: 'copy' }>,
    last?: Stage,
  ): AsyncGenerator<Chunk, string> {
    const { plan, reading, rows, sample } = this.#deps
    await session.guard(() => session.execute(beginReading))
    // After an interruption another snapshot is read; the first one says which changes come again.
    const snapshot = from.snapshot || (await session.guard(() => snapshotOf(session)))
    const spot = (from.at === null ? undefined : afterIn(from.at, plan.order.length)) ?? {
      after: undefined,
      skip: 0,
      bound: undefined,
    }
    const checkpointAt = (at: Json) => ({ phase: 'copy', lsn: from.lsn, snapshot, at })
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
    const { changes, reading } = this.#deps
    const until = lsnOf(spot.until)
    const seen = seenIn(spot.snapshot)
    const from: Position = { lsn: lsnOf(spot.lsn), taken: spot.taken }
    const waiting: RowChange[] = []
    let bytes = 0
    let at = from
    const take = async (): Promise<Chunk> => {
      const made = await rowsOfChanges(waiting.splice(0), this.#deps.rows, () => this.#helping())
      bytes = 0
      return this.#chunk(made, { ...spot, lsn: lsnText(at.lsn), taken: at.taken })
    }
    await session.guard(() => session.execute(beginReading))
    const { messagesMax } = this.#deps
    const steps = changesOf(session, changes, { seen, from, until, messagesMax }, reading.waitMs)
    let isWhole = false
    for (;;) {
      const next = await steps.next()
      if (next.done) {
        isWhole = next.value
        break
      }
      for (const { change, at: behind } of next.value) {
        if (change?.kind === 'truncate' && this.#deps.rows.deletes !== 'add') {
          if (waiting.length > 0) yield await take()
          throw truncated(changes, change)
        }
        at = behind
        if (!change) continue
        waiting.push(change)
        bytes += change.bytes
        if (waiting.length >= rowsMax || bytes >= bytesMax) yield await take()
      }
    }
    await session.guard(() => session.execute(['commit']))
    if (waiting.length > 0) yield await take()
    // Also what was committed elsewhere is behind now, so that the server need not keep it.
    const { snapshot: _, ...behind } = spot
    const end = isWhole ? { ...behind, lsn: spot.until, taken: 0 } : { ...spot, lsn: lsnText(at.lsn), taken: at.taken }
    yield this.#chunk(nothing, end)
  }

  #chunk(made: Pick<Chunk, 'rows' | 'removed' | 'bytes'>, spot: Extract<Stage, { phase: 'changes' }>): Chunk {
    const { until: _, phase: __, ...position } = spot
    const cursor: Cursor = { of: identityOf(this.#deps.changes), ...position }
    return {
      columns: this.#columns,
      ...(this.#types && { types: this.#types }),
      ...made,
      checkpoint: { ...spot },
      cursor: { ...cursor },
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

const placeOfChanges = (settings: Values): ChangesPlace => {
  const text = (key: string, otherwise?: string): string => {
    const value = settings[key] ?? otherwise
    if (typeof value === 'string' && value !== '') return value
    throw new ConnectorError('invalid_setting', `The setting ${key} has no value; set it.`)
  }
  const slot = text('slot')
  if (!/^[a-z0-9_]{1,63}$/.test(slot)) {
    throw new ConnectorError(
      'invalid_setting',
      'The name of a replication slot has at most 63 lower case letters, digits and _; change the setting slot.',
    )
  }
  return { schema: text('schema', 'public'), table: text('table'), slot, publication: text('publication') }
}

/** The columns of the table, and how rows are made of them. */
async function rowsTable(
  session: PostgresSession,
  plan: PostgresPlan,
  place: ChangesPlace,
  settings: Values,
): Promise<ChangeRows> {
  const table = nameOf(place)
  const types = await session.rows(
    `select attname as name, format_type(atttypid, atttypmod) as type from pg_attribute
      where attrelid = to_regclass($1) and attnum > 0 and not attisdropped`,
    { name: 'text', type: 'text' },
    [table],
  )
  const typeOf = new Map(types.map(({ name, type }) => [name, type]))
  const { deletes, withChange } = changeSettingsOf(settings)
  return {
    table,
    columns: plan.columns.map((name, at) => ({
      name,
      kind: plan.kinds[at] ?? 'text',
      type: typeOf.get(name) ?? 'text',
    })),
    keys: plan.digest ? [] : plan.orderNames,
    withChange,
    deletes,
  }
}

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
