import { ConnectorError } from '@penstock/connector'
import type { TableChange } from '../../databases/row-changes.ts'
import type { MysqlCellKind } from '../cells.ts'
import type { MysqlSession } from '../session.ts'
import { BrokenEvent, ByteReader } from './bytes.ts'
import type { Charsets } from './charsets.ts'
import { CutLog, eventsFrom, lost, notRead, positionMax, stopped } from './dump.ts'
import type { LogEvent } from './events.ts'
import { type DecodedColumn, rowIn } from './logged-row.ts'
import { loggedKind } from './row-values.ts'
import { fileAfter, isBehind, type LogPlace, type LogServer, numberOf } from './server.ts'
import type { LogPosition } from './stages.ts'
import { meaningOf, type TableName } from './statements.ts'
import { type LoggedColumn, tableIn, tableMapIn } from './table-map.ts'
import { versioned, versioningChanged } from './versions.ts'

/** A change of the table, and the place in the log at which its transaction begins. */
export type LoggedChange = TableChange & { readonly place: string }

/** Changes, or the end of a transaction; the place is behind them. */
export type LogStep = {
  readonly change: LoggedChange | undefined
  readonly at: LogPosition
  /** Rows have other values from here on that no change says: columns were added, renamed or converted. */
  readonly reshapes?: true
}

/** The table whose changes are read, with the columns that are read of it. */
export type FollowedTable = TableName & {
  readonly columns: readonly { readonly name: string; readonly kind: MysqlCellKind; readonly width: number }[]
  readonly charsets: Charsets
}

/**
 * Gives the changes of a table from a place up to another, in the order of the log. Rows of other tables are passed over.
 * @param connect opens another session, to read on behind a file that the server left unfinished when it died
 * @param changesMax after so many changes of the table it ends
 * @param waitMs how long the server may send nothing
 * @returns whether all changes up to `until` were given
 * Throws `changes_lost` if the log does not have all of them, or one cannot be followed.
 */
export async function* changesOf(
  connect: () => Promise<MysqlSession>,
  server: LogServer,
  table: FollowedTable,
  { from, until, changesMax }: { from: LogPosition; until: LogPlace; changesMax: number },
  waitMs: number,
): AsyncGenerator<LogStep[], boolean> {
  const { file, log } = from
  await probeLog(await connect(), server, file, log, waitMs)
  const following = new Following(server, table, from)
  let changes = 0
  let place: LogPlace = from
  for (;;) {
    const session = await connect()
    try {
      for await (const events of eventsFrom(session, server, place, waitMs)) {
        const steps: LogStep[] = []
        for (const event of events) {
          for (const step of following.follow(event)) {
            steps.push(step)
            if (step.change) changes += 1
            if (changes >= changesMax || isBehind(step.at, until)) {
              yield steps
              return changes < changesMax
            }
          }
        }
        yield steps
      }
      return true
    } catch (error) {
      if (error instanceof BrokenEvent) throw notRead(session, error)
      if (!(error instanceof CutLog)) throw error
    }
    const { file } = following
    const asking = await connect()
    const next = await asking.guard(() => fileAfter(asking, file))
    if (next === undefined) throw stopped(asking.place.host, file)
    following.skipTo(next)
    place = { file: next, position: 4 }
  }
}

/**
 * Reads the beginning of a file of the log, which shows that the user may, and whose file it is. A place in a file of another server
 * would be in the middle of an event.
 * @param log identity of the file, if it is known
 * @returns identity of the file
 * Throws `changes_lost` if the server does not have this file, or it is another one.
 */
export async function probeLog(
  session: MysqlSession,
  server: LogServer,
  file: string,
  log: string,
  waitMs: number,
): Promise<string> {
  for await (const events of eventsFrom(session, server, { file, position: 4 }, waitMs)) {
    for (const event of events) if (event.kind === 'format') return checkedLog(event, file, log)
  }
  throw notRead(session, new BrokenEvent('no beginning'))
}

function checkedLog({ serverId, seconds }: LogEvent, file: string, known: string): string {
  const log = `${serverId}:${seconds}`
  if (known === '' || known === log) return log
  throw lost(
    `The file ${file} of the binary log is another one than in the last transfer: the server was replaced, as by a failover, or its log was reset`,
  )
}

/**
 * Changes of a transaction are held until it is committed, up to so many bytes of it: a server that dies can leave the beginning of one
 * in its log.
 */
const heldBytesMax = 4 << 20
/** About how much memory a change takes beside its bytes. */
const stepBytes = 200

/** Table identifier of an event without rows. */
const noTable = 0xff_ffff

/** Follows the events of a log. */
class Following {
  readonly #server: LogServer
  readonly #table: FollowedTable
  readonly #from: LogPosition
  /** The end of the last transaction, and how many changes of the table were taken since. */
  #at: LogPosition
  /** The file that the next description of the format is of. */
  #file: string
  #isInTransaction = false
  /** How many changes of the table the transaction has given, and the ones that wait for its end. */
  #given = 0
  #held: LogStep[] = []
  #heldBytes = 0
  /** By the number of the table in the log: `null` for other tables. */
  readonly #tables = new Map<number, readonly DecodedColumn[] | null>()

  constructor(server: LogServer, table: FollowedTable, from: LogPosition) {
    this.#server = server
    this.#table = table
    this.#from = from
    this.#at = { ...from, taken: 0 }
    this.#file = from.file
  }

  /** The file that is read. */
  get file(): string {
    return this.#file
  }

  /** The file that is read ends in a transaction that the server rolled back. */
  skipTo(file: string): void {
    this.#rotate(file)
  }

  *follow(event: LogEvent): Generator<LogStep> {
    switch (event.kind) {
      case 'rotate':
        if (event.file !== this.#file) this.#rotate(event.file)
        return
      case 'format':
        yield* this.#describe(event)
        return
      case 'table':
        this.#isInTransaction = true
        this.#learn(event.body)
        return
      case 'rows':
        yield* this.#rowsIn(event)
        return
      case 'statement':
        yield* this.#statement(event)
        return
      case 'begin':
        this.#isInTransaction = true
        return
      case 'commit':
        yield* this.#end(event)
        return
      case 'prepared':
        if (!event.commits && this.#given + this.#held.length > 0) throw twoPhases(this.#table)
        yield* this.#end(event)
        return
      case 'partial':
        if ([...this.#tables.values()].some((columns) => columns !== null)) throw partialJson()
        return
      case 'incident':
        throw lost('The server has lost changes, and says so in its binary log')
      default:
        if (!this.#isInTransaction) yield* this.#reach(event)
    }
  }

  #rotate(file: string): void {
    if (!(numberOf(file) > numberOf(this.#file))) throw new BrokenEvent('a file that does not follow the one before')
    this.#undo('The server stopped in the middle of a transaction')
    this.#isInTransaction = false
    this.#file = file
  }

  *#describe(event: LogEvent): Generator<LogStep> {
    this.#tables.clear()
    if (this.#file === this.#at.file) {
      this.#at = { ...this.#at, log: checkedLog(event, this.#file, this.#at.log) }
      return
    }
    this.#at = { ...this.#at, file: this.#file, position: 4, taken: 0, log: checkedLog(event, this.#file, '') }
    yield { change: undefined, at: this.#at }
  }

  *#statement(event: Extract<LogEvent, { kind: 'statement' }>): Generator<LogStep> {
    const { database, table } = this.#table
    switch (meaningOf(event.statement, event.database, this.#table)) {
      case 'begin':
        this.#isInTransaction = true
        return
      case 'commit':
        yield* this.#end(event)
        return
      case 'rollback':
        if (/^rollback\s+to/i.test(event.statement)) {
          if (this.#given + this.#held.length > 0) throw lost(rolledBack)
          return
        }
        this.#undo(rolledBack)
        yield* this.#end(event)
        return
      case 'truncate':
        yield* this.#give('truncate', new Map(), event)
        break
      case 'replaced':
        throw lost(`${database}.${table} was dropped, renamed, replaced or lost a partition at ${timeOf(event)}`)
      case 'versioning':
        throw versioningChanged(this.#table)
      case 'reshaped':
        yield* this.#reshape(event)
        return
      case 'unlogged':
        throw lost(
          `Rows of ${database}.${table} were changed by a statement at ${timeOf(event)} whose rows are not in the binary log, because a session did not have binlog_format = ROW`,
        )
    }
    if (!this.#isInTransaction) yield* this.#reach(event)
  }

  /** The table is copied again from the end of the statement on: its transactions have ended before, and its rows have other values. */
  *#reshape(event: LogEvent): Generator<LogStep> {
    let isReached = false
    for (const step of this.#end(event)) {
      isReached = !step.change
      yield isReached ? { ...step, reshapes: true } : step
    }
    if (!isReached) throw lost('Columns were changed in a file of the binary log of more than 4 GiB')
  }

  /** The end of a transaction. */
  *#end(event: LogEvent): Generator<LogStep> {
    yield* this.#release()
    this.#isInTransaction = false
    this.#given = 0
    this.#tables.clear()
    yield* this.#reach(event)
  }

  /** Gives what was held. */
  *#release(): Generator<LogStep> {
    yield* this.#held
    this.#given += this.#held.length
    this.#held = []
    this.#heldBytes = 0
  }

  /** The changes of the transaction have no effect, after all. Throws `changes_lost` if some were given. */
  #undo(what: string): void {
    if (this.#given > 0) throw lost(what)
    this.#at = { ...this.#at, taken: this.#at.taken - this.#held.length }
    this.#held = []
    this.#heldBytes = 0
  }

  /** The log is known up to the end of an event. In a file of more than 4 GiB, offsets begin again; changes are counted there. */
  *#reach({ end }: LogEvent): Generator<LogStep> {
    if (end <= this.#at.position || end > positionMax || this.#file !== this.#at.file) return
    this.#at = { ...this.#at, position: end, taken: 0 }
    yield { change: undefined, at: this.#at }
  }

  #learn(body: Buffer): void {
    const { id, database, table } = tableIn(body)
    const { ignoresCase, ...wanted } = this.#table
    const isSame = (a: string, b: string) => a === b || (ignoresCase && a.toLowerCase() === b.toLowerCase())
    if (!isSame(database, wanted.database) || !isSame(table, wanted.table)) {
      this.#tables.set(id, null)
      return
    }
    const { columns } = tableMapIn(body, this.#server.isMariadb)
    if (!columns)
      throw lost('Changes were logged without the names of their columns, when binlog_row_metadata was not FULL')
    this.#tables.set(
      id,
      columns.map((column) => this.#readingOf(column)),
    )
  }

  #readingOf(column: LoggedColumn): DecodedColumn {
    const now = this.#table.columns.find(({ name }) => name.toLowerCase() === column.name.toLowerCase())
    const isAsNow = now !== undefined && now.kind === loggedKind(column)
    return {
      column,
      charset: this.#table.charsets(column.collation),
      name: isAsNow ? now.name : undefined,
      width: now?.width ?? 0,
      isRowEnd: this.#at.rowEnd !== '' && column.name.toLowerCase() === this.#at.rowEnd.toLowerCase(),
    }
  }

  *#rowsIn(event: Extract<LogEvent, { kind: 'rows' }>): Generator<LogStep> {
    const columns = this.#tables.get(event.table)
    if (columns === null || (columns === undefined && event.table === noTable)) return
    if (columns === undefined) throw new BrokenEvent('rows of a table that was not described')
    const reader = new ByteReader(event.body())
    if (reader.count() !== columns.length) throw new BrokenEvent('rows without the columns of their table')
    const size = Math.ceil(columns.length / 8)
    const sent = reader.bytes(size)
    const sentAfter = event.change === 'update' ? reader.bytes(size) : sent
    while (reader.left > 0) {
      const from = reader.left
      const row = rowIn(reader, columns, sent)
      const after = event.change === 'update' ? rowIn(reader, columns, sentAfter, row) : undefined
      const given = versioned(event.change, row, after, this.#at.rowEnd)
      if (given) yield* this.#give(given.kind, given.values, event, given.before, from - reader.left)
    }
  }

  *#give(
    kind: LoggedChange['kind'],
    values: ReadonlyMap<string, string | null>,
    event: LogEvent,
    before?: ReadonlyMap<string, string | null>,
    bytes = 0,
  ): Generator<LogStep> {
    const { file, position } = this.#at
    const taken = this.#at.taken + 1
    this.#at = { ...this.#at, taken }
    // Changes behind the place at which reading began were read before.
    const from = this.#from
    if (file === from.file && position === from.position && taken <= from.taken) {
      this.#given += 1
      return
    }
    const committedMs = event.seconds * 1000
    const change: LoggedChange = {
      kind,
      values,
      committedMs,
      place: `${file}:${position}`,
      bytes,
      ...(before && { before }),
    }
    this.#held.push({ change, at: this.#at })
    this.#heldBytes += bytes + stepBytes
    if (this.#isInTransaction && this.#heldBytes <= heldBytesMax) return
    yield* this.#release()
    if (!this.#isInTransaction) this.#given = 0
  }
}

const rolledBack = 'A transaction was rolled back in part, after its changes were logged'

const timeOf = ({ seconds }: LogEvent): string => new Date(seconds * 1000).toISOString()

const twoPhases = ({ database, table }: TableName): ConnectorError =>
  new ConnectorError(
    'not_supported',
    `${database}.${table} was changed by a distributed transaction (XA PREPARE), whose changes are logged before it is known whether they are committed. Read all rows of the table instead, or change it without XA, then reset the state of the connection.`,
  )

const partialJson = (): ConnectorError =>
  lost('Changes were logged as differences of JSON values, when binlog_row_value_options was PARTIAL_JSON')
