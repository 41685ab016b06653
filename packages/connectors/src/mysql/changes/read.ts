import { isDeepStrictEqual } from 'node:util'
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
import { placeOf, type Reading, readingOf } from '../../databases/settings.ts'
import { type MysqlPlan, planReading, statementOf } from '../plan.ts'
import { rowsOf, settle } from '../read.ts'
import { type MysqlSession, openSession } from '../session.ts'
import { type Charsets, charsetsOf } from './charsets.ts'
import { changeColumns, copiedCells, type LoggedRows, rowsOfChanges } from './rows.ts'
import { checkServer, endOfLog, isBehind, type LogServer, lagOf, timeOf } from './server.ts'
import { beginCopy, continueCopy } from './snapshot.ts'
import { cursorIn, identityOf, type LogCursor, type LogPosition, type LogStage, stageIn } from './stages.ts'
import type { TableName } from './statements.ts'
import { changesOf, type FollowedTable, type LoggedChange, probeLog } from './stream.ts'
import { checkTable } from './table.ts'
import { versioningChanged } from './versions.ts'

const rowsMax = 5_000
const bytesMax = 1024 * 1024
const nothing = { rows: [], bytes: 0 }
/** A preview warns if the server keeps its log for less than this. */
const keptSecondsMin = 86_400

/**
 * Reads a table, and in later transfers what was changed since, from the binary log. Nothing is changed at the server, which keeps its
 * log for a time, whether it was read or not.
 */
export async function openChanges(context: SourceContext): Promise<SourceReader> {
  const { settings } = context
  const reading = { ...readingOf(settings, ''), cursor: undefined }
  const place = placeOf(context.secrets, 3306)
  const connect = () => openSession(context, place)
  if (!('table' in reading.from)) {
    throw new ConnectorError(
      'invalid_setting',
      'Only a table has changes: select Table Reference as the data source type.',
    )
  }
  const { table } = reading.from
  const prepare = async (session: MysqlSession) => {
    await session.run(settle)
    const server = await checkServer(session)
    const name: TableName = { database: place.database, table, ignoresCase: server.ignoresCase }
    const { rowEnd } = await checkTable(session, name)
    const end = await endOfLog(session, server)
    const plan = await planReading(session, reading)
    return { server, name, plan, rowEnd, end, charsets: await charsetsOf(session, server.isMariadb) }
  }
  const prepared = await inSession(await connect(), prepare, reading.waitMs)
  const cursor = cursorIn(context.cursor, identityOf(place.database, table))
  if (!cursor)
    await inSession(await connect(), (session) =>
      probeLog(session, prepared.server, prepared.end.file, '', reading.waitMs),
    )
  const { plan, server } = prepared
  const rows: LoggedRows = { ...changeSettingsOf(settings), plan, keys: plan.orderNames, waitMs: reading.waitMs }
  const reader = new ChangesReader({
    ...prepared,
    reading,
    rows,
    cursor,
    connect,
    isSample: context.sample !== undefined,
    log: (text) => context.log(text),
  })
  return {
    ...(cursor || plan.rowsEstimated === undefined ? {} : { total: { rows: plan.rowsEstimated } }),
    follows: cursor ? 'changes' : 'whole',
    read: (after, until) => reader.read(after, until),
    findings: async () => findingsOf(server),
    close: () => reader.close(),
  }
}

type ReaderDeps = {
  readonly server: LogServer
  readonly name: TableName
  readonly plan: MysqlPlan
  readonly rowEnd: string
  readonly charsets: Charsets
  readonly reading: Reading
  readonly rows: LoggedRows
  readonly cursor: LogCursor | undefined
  readonly connect: () => Promise<MysqlSession>
  readonly isSample: boolean
  readonly log: (text: string) => void
}

type CopyStage = Extract<LogStage, { phase: 'copy' }>
type ChangesStage = Extract<LogStage, { phase: 'changes' }>
/** A place behind a change, and when the last change before it was committed. */
type Behind = LogPosition & Pick<ChangesStage, 'readMs'>

class ChangesReader {
  readonly #deps: ReaderDeps
  readonly #columns: readonly string[]
  readonly #types: Chunk['types']
  #session: MysqlSession | undefined
  #helper: MysqlSession | undefined

  constructor(deps: ReaderDeps) {
    this.#deps = deps
    const { plan, rows } = deps
    this.#columns = [...plan.columns, ...(rows.withChange ? changeColumns : [])]
    this.#types = plan.types && [...plan.types, ...(rows.withChange ? [null, { kind: 'instant' } as const, null] : [])]
  }

  async *read(after?: Json, until?: Json): AsyncGenerator<Chunk> {
    try {
      yield* this.#chunks(stageIn(after), stageIn(until))
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

  async *#chunks(after: LogStage | undefined, last: LogStage | undefined): AsyncGenerator<Chunk> {
    const { cursor, isSample, rowEnd, name } = this.#deps
    let spot: LogStage
    if (after) spot = after
    else if (cursor && !isSample) {
      const { of: _, ...position } = cursor
      spot = { phase: 'changes', ...position, ...(await this.#until()) }
      await this.#logLag(spot)
    } else spot = { phase: 'copy', file: '', position: 0, taken: 0, log: '', rowEnd, at: null }
    if (spot.rowEnd !== rowEnd) throw versioningChanged(name)
    if (spot.phase === 'copy') {
      const { phase: _, at: __, ...position } = yield* this.#copy(spot, last)
      if (isSample || last) return
      spot = { phase: 'changes', ...position, ...(await this.#until()) }
      yield this.#chunk(nothing, spot)
    }
    for (;;) {
      const reshaped: LogPosition | undefined = yield* this.#changes(spot)
      if (!reshaped) return
      await this.#checkColumns()
      yield* this.#copy({ phase: 'copy', at: null, ...reshaped }, undefined)
      spot = { ...spot, ...reshaped }
      yield this.#chunk(nothing, spot)
    }
  }

  /** Asserts that the table has the columns that it had when the transfer began, before it is copied again. */
  async #checkColumns(): Promise<void> {
    const { connect, reading, plan } = this.#deps
    const now = await inSession(await connect(), (session) => planReading(session, reading), reading.waitMs)
    if (isDeepStrictEqual([now.columns, now.kinds], [plan.columns, plan.kinds])) return
    const { database, table } = this.#deps.name
    throw new ConnectorError('conflict', `The columns of ${database}.${table} changed while the transfer read it.`)
  }

  /** The end of the log: changes that are written later are for the next transfer. */
  async #until(): Promise<Pick<ChangesStage, 'untilFile' | 'untilPosition' | 'untilMs'>> {
    const helper = await this.#helping()
    return helper.guard(async () => {
      const untilMs = await timeOf(helper)
      const { file, position } = await endOfLog(helper, this.#deps.server)
      return { untilFile: file, untilPosition: position, untilMs }
    })
  }

  /** The log of the transfer says how far behind it is, and how close its place is to what the server removes. */
  async #logLag(spot: ChangesStage): Promise<void> {
    const { log, server } = this.#deps
    const helper = await this.#helping()
    const { bytes, files, older } = await helper.guard(() =>
      lagOf(helper, spot, { file: spot.untilFile, position: spot.untilPosition }),
    )
    const kept =
      server.keptSeconds === 0
        ? 'It keeps files until someone removes them.'
        : `It removes files after ${hoursOf(server.keptSeconds)} hours.`
    log(
      `${bytes} bytes of the binary log are to be read, from ${spot.file} on (${files} ${files === 1 ? 'file' : 'files'}). The server has ${older} older ${older === 1 ? 'file' : 'files'}. ${kept}`,
    )
  }

  /** @returns the place in the log from which on changes are not in the copy */
  async *#copy(from: CopyStage, last: LogStage | undefined): AsyncGenerator<Chunk, CopyStage> {
    const { plan, reading, rows, server, name, connect, isSample } = this.#deps
    const session = await connect()
    this.#session = session
    let stage = from
    if (isSample) await session.guard(() => continueCopy(session))
    else if (stage.file === '') {
      const place = await session.guard(() => beginCopy(session, server, name, () => this.#helping()))
      stage = { ...stage, ...place }
    } else await session.guard(() => continueCopy(session))
    // A log that is lost by now would make the copy useless.
    if (!isSample) stage = { ...stage, log: await this.#probe(stage) }
    const spot = (stage.at === null ? undefined : afterIn(stage.at, plan.order.length)) ?? {
      after: undefined,
      skip: 0,
      bound: undefined,
    }
    const shown = { columns: this.#columns, ...(this.#types && { types: this.#types }) }
    // Rows that arrive before the place is known would not get the changes that a later one is behind.
    if (from.file === '' && !isSample) yield { ...shown, ...nothing, checkpoint: { ...stage }, settles: true }
    const upTo = last?.phase === 'copy' && last.at !== null ? afterIn(last.at, plan.order.length)?.after : undefined
    const found = rowsOf(session, plan, statementOf(plan, { ...spot, upTo }), reading.waitMs)
    for await (const chunk of chunksOf({ ...plan, incremental: false, places: !plan.digest }, spot, found)) {
      const { checkpointAfter } = chunk
      const began = stage
      stage = { ...stage, at: chunk.checkpoint }
      yield {
        ...chunk,
        ...shown,
        rows: rows.withChange ? chunk.rows.map((row) => [...row, ...copiedCells]) : chunk.rows,
        checkpoint: { ...stage },
        ...(checkpointAfter && { checkpointAfter: (count) => ({ ...began, at: checkpointAfter(count) }) }),
      }
    }
    await session.close()
    return stage
  }

  async #probe(place: CopyStage): Promise<string> {
    const { server, reading, connect } = this.#deps
    const probe = (session: MysqlSession) => probeLog(session, server, place.file, place.log, reading.waitMs)
    return inSession(await connect(), probe, reading.waitMs)
  }

  /** @returns the place from which on the rows of the table have other values, if the log has one: the rest of it is not read */
  async *#changes(spot: ChangesStage): AsyncGenerator<Chunk, LogPosition | undefined> {
    const { server, name, plan, charsets, reading, rows, connect } = this.#deps
    const table: FollowedTable = {
      ...name,
      charsets,
      columns: plan.columns.map((column, at) => ({
        name: column,
        kind: plan.kinds[at] ?? 'text',
        width: plan.widths[at] ?? 0,
      })),
    }
    const { phase: _, untilFile, untilPosition, untilMs, readMs: before, ...from } = spot
    const open = async () => {
      await this.#session?.close()
      const session = await connect()
      this.#session = session
      return session
    }
    const until = { file: untilFile, position: untilPosition }
    const steps = changesOf(open, server, table, { from, until, changesMax: rows.changesMax }, reading.waitMs)
    /** Changes, and the place behind each. */
    const waiting = new Map<LoggedChange, Behind>()
    let bytes = 0
    let [begin, at]: [Behind, Behind] = [
      { ...from, readMs: before },
      { ...from, readMs: before },
    ]
    const take = async (): Promise<Chunk> => {
      const places = { behind: new Map(waiting), begin, end: at }
      const { changes, ...made } = await rowsOfChanges([...waiting.keys()], rows, () => this.#helping())
      waiting.clear()
      bytes = 0
      begin = at
      const cursorAfter = (count: number) =>
        this.#chunk(nothing, { ...spot, ...placeBehind(changes, count, places) }).cursor as Json
      return { ...this.#chunk(made, { ...spot, ...at }), cursorAfter }
    }
    for await (const some of steps) {
      for (const { change, at: behind, reshapes } of some) {
        if (reshapes) {
          if (waiting.size > 0) yield await take()
          return behind
        }
        if (change?.kind === 'truncate' && rows.deletes !== 'add') {
          if (waiting.size > 0) yield await take()
          throw truncated(name, change)
        }
        at = { ...behind, readMs: at.readMs }
        if (!change) continue
        at = { ...at, readMs: change.committedMs }
        waiting.set(change, at)
        bytes += change.bytes
        if (waiting.size >= rowsMax || bytes >= bytesMax) yield await take()
      }
    }
    if (waiting.size > 0) yield await take()
    yield this.#chunk(nothing, { ...spot, ...at, readMs: isBehind(at, until) ? untilMs : at.readMs })
    return undefined
  }

  #chunk(made: Pick<Chunk, 'rows' | 'removed' | 'errors' | 'bytes'>, spot: ChangesStage): Chunk {
    const { phase, untilFile, untilPosition, untilMs, readMs, ...place } = spot
    const position = { ...place, ...(readMs !== undefined && { readMs }) }
    const { database, table } = this.#deps.name
    const cursor = { of: identityOf(database, table), ...position } satisfies LogCursor
    return {
      columns: this.#columns,
      ...(this.#types && { types: this.#types }),
      ...made,
      checkpoint: { phase, untilFile, untilPosition, ...(untilMs !== undefined && { untilMs }), ...position },
      cursor,
      ...(made.rows.length === 0 && { settles: true }),
    }
  }

  /** A second session, for what is looked up while changes arrive on the first one. */
  async #helping(): Promise<MysqlSession> {
    if (this.#helper?.alive) return this.#helper
    const helper = await this.#deps.connect()
    this.#helper = helper
    await helper.guard(() => helper.run(settle))
    return helper
  }
}

const hoursOf = (seconds: number): number => Math.round(seconds / 360) / 10

const findingsOf = ({ keptSeconds }: LogServer): Finding[] =>
  keptSeconds === 0 || keptSeconds >= keptSecondsMin
    ? []
    : [
        {
          code: 'changes_kept_briefly',
          message: `The server keeps its binary log for ${hoursOf(keptSeconds)} hours. If no transfer ends in that time, changes are lost, and all rows must be copied again. Raise binlog_expire_logs_seconds.`,
        },
      ]

const truncated = ({ database, table }: TableName, { committedMs }: LoggedChange): ConnectorError =>
  new ConnectorError(
    'changes_lost',
    `${database}.${table} was truncated at ${new Date(committedMs).toISOString()}, which cannot be done at the destination. Remove the rows there, then reset the state of the connection: the next transfer copies the table again.`,
  )
