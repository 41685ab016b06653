import type {
  ColumnType,
  Division,
  DivisionBounds,
  Finding,
  RawFormat,
  RawOffer,
  SourceContext,
  SourceReader,
} from '@penstock/connector'
import { afterIn, cursorOf, type Spot } from './checkpoints.ts'
import { chunksOf, type ReadRow } from './chunks.ts'
import { divideKeys, partsOf, rangeOf } from './key-ranges.ts'
import { beginningOf, type CursorTime, type Within } from './ranges.ts'
import { type RawBlock, type RawReading, rawChunksOf } from './raw-chunks.ts'
import { type DatabaseSession, inSession, type OpenSession } from './sessions.ts'
import type { Place, Reading } from './settings.ts'

/** The columns, order and upper bound of a reading. Determined once, when the reader is opened. */
export type OrderedPlan<Term = unknown> = {
  readonly columns: readonly string[]
  /** Their types, as far as values of them have one text only. */
  readonly types?: readonly (ColumnType | null)[]
  /** The terms that rows are ordered by, in this order: cursor, key, digest. */
  readonly order: readonly Term[]
  /** Whether the last term is a digest of the row: rows that are equal in all columns are then equal in it, too. */
  readonly digest: boolean
  /** Names of the terms: a cursor that was kept under other names says nothing here. */
  readonly orderNames: readonly string[]
  /** Upper bound of the cursor, as text; absent where all is read. */
  readonly bound: string | undefined
  /** An incremental read finds no cursor at all. */
  readonly empty: boolean
  /** How the cursor says a time; absent if it does not. */
  readonly time?: CursorTime | undefined
  /** Bounds of the cursor, besides the spot. */
  readonly within?: Within | undefined
  /** Texts of the cursor that no other is greater than. An earlier transfer that ended at one of them says nothing: reading starts over. */
  readonly endless?: readonly string[]
  readonly rowsEstimated?: number | undefined
  /** The bytes of the rows, about. Absent if the rows cannot be divided: the first column of a primary key has no whole numbers. */
  readonly bytesEstimated?: number | undefined
}

/** A database whose rows are read in their order by one statement that begins at any of them. */
export type OrderedDatabase<Session extends DatabaseSession, Plan extends OrderedPlan> = {
  readonly openSession: OpenSession<Session>
  /** Begins a transaction that sees one snapshot. */
  readonly begin: (session: Session) => Promise<void>
  /** Asks the database what there is to read. */
  readonly plan: (session: Session) => Promise<Plan>
  /** Waits until all rows from a cursor up to the bound are committed, where `plan` has not waited for them. */
  readonly settle?: (plan: Plan, from: string | undefined, bound: string) => Promise<void>
  /** Keys of the table, as `divideKeys` wants them, in a transaction that has begun; none if it has none. Absent if it is never divided. */
  readonly knots?: (session: Session, plan: Plan) => Promise<readonly bigint[]>
  /** How many rows have no cursor, in a transaction that has begun. */
  readonly countUnread: (session: Session, plan: Plan) => Promise<number>
  /** The rows behind a spot, as the server sends them, in a transaction that has begun. */
  readonly rows: (session: Session, plan: Plan, from: Spot) => AsyncIterable<readonly ReadRow[]>
  /** The same as raw rows. Absent if it has no raw rows. */
  readonly raw?: {
    /** The raw rows that it can return, the fastest first; none if each row of a plan must be looked at. */
    readonly offersOf: (plan: Plan) => readonly RawOffer[]
    readonly reading: (session: Session, plan: Plan, format: RawFormat) => RawReading
    readonly blocks: (session: Session, plan: Plan, from: Spot, format: RawFormat) => AsyncIterable<readonly RawBlock[]>
  }
}

/** The form of the first raw rows that are taken; `undefined` if rows must be values. */
async function takenOf(offers: readonly RawOffer[], takes: SourceContext['takesRaw']): Promise<RawFormat | undefined> {
  for (const offer of takes ? offers : []) if (await takes?.(offer)) return offer.format
  return undefined
}

/** Opens a reader: asks the database what there is to read, and notes up to where. */
export async function openOrdered<Session extends DatabaseSession, Plan extends OrderedPlan>(
  context: SourceContext,
  place: Place,
  reading: Reading,
  { openSession, begin, plan: planIn, settle, knots, countUnread, rows, raw }: OrderedDatabase<Session, Plan>,
): Promise<SourceReader> {
  const { cursor, waitMs } = reading
  const beginAndPlan = async (session: Session): Promise<Plan> => {
    await begin(session)
    return planIn(session)
  }
  const planned = await inSession(await openSession(context, place), beginAndPlan, waitMs)
  const ended = cursorOf(context.cursor, planned.orderNames)
  const last = planned.endless?.includes(ended?.after?.[0] ?? '') ? undefined : ended
  const { earlier, within, keepsCursor } = beginningOf(context, reading, planned.time, last)
  const plan: Plan = { ...planned, within }
  if (plan.bound !== undefined && !context.sample) await settle?.(plan, within?.from ?? earlier?.after?.[0], plan.bound)
  const range = context.part && rangeOf(context.part.key, plan.orderNames)
  const rowsEstimated = range?.rows ?? plan.rowsEstimated
  const rawFormat = keepsCursor ? undefined : await takenOf(raw?.offersOf(plan) ?? [], context.takesRaw)
  let current: Session | undefined
  /** Divides a table that is read whole. */
  async function divide(bounds: DivisionBounds): Promise<Division | undefined> {
    const { rowsEstimated: all = 0, bytesEstimated: bytes, orderNames, columns } = plan
    const [column] = orderNames
    if (!knots || cursor !== undefined || column === undefined || bytes === undefined) return undefined
    if (partsOf(bytes, bounds) < 2) return undefined
    const keysOf = async (session: Session) => {
      await begin(session)
      return knots(session, plan)
    }
    const found = await inSession(await openSession(context, place), keysOf, waitMs)
    return divideKeys(column, { rows: all, bytes }, found, bounds, columns)
  }
  return {
    ...(rowsEstimated === undefined || earlier || within ? {} : { total: { rows: rowsEstimated } }),
    ...(rawFormat && { rawFormat }),
    divide,
    async *read(after, until) {
      const from = afterIn(after, plan.order.length)
      const upTo = afterIn(until, plan.order.length)?.after
      if (plan.empty && !from) return
      const session = await openSession(context, place)
      current = session
      try {
        const begins = { after: undefined, skip: 0, ...earlier, bound: range?.upTo ?? plan.bound, above: range?.above }
        const spot = from ?? begins
        await session.guard(() => begin(session))
        if (raw && rawFormat) {
          const reading = raw.reading(session, plan, rawFormat)
          yield* rawChunksOf(reading, spot, raw.blocks(session, plan, { ...spot, upTo }, rawFormat))
        } else {
          const found = rows(session, plan, { ...spot, upTo })
          // Equal rows are counted: they have no places.
          yield* chunksOf({ ...plan, incremental: keepsCursor, places: !plan.digest }, spot, found)
        }
        await session.close()
      } finally {
        // A reader that stops early does not wait for the rest of the rows.
        session.abandon()
        await session.close()
      }
    },
    async findings(boundMs) {
      if (cursor === undefined) return []
      try {
        const session = await openSession(context, place)
        const count = async () => {
          await begin(session)
          return countUnread(session, plan)
        }
        const unread = await inSession(session, count, boundMs)
        return unread === 0 ? [] : [rowsWithoutCursor(unread, cursor)]
      } catch {
        // A table that takes long to count, or a server that is gone by now, is no finding.
        return []
      }
    },
    async close() {
      current?.abandon()
      await current?.close()
    },
  }
}

const rowsWithoutCursor = (count: number, cursor: string): Finding => ({
  code: 'rows_without_cursor',
  message: `${count} ${count === 1 ? 'row has' : 'rows have'} no value in ${cursor}, the cursor column, or no finite number, so no transfer reads ${count === 1 ? 'it' : 'them'}. Give the column a value, use another cursor, or read all rows each time.`,
})
