import type { SourceContext, SourceReader } from '@penstock/connector'
import { afterIn, cursorOf, type Spot } from './checkpoints.ts'
import { chunksOf, type ReadRow } from './chunks.ts'
import { type DatabaseSession, inSession, type OpenSession } from './sessions.ts'
import type { Place, Reading } from './settings.ts'

/** What is read, in which order, and up to where: found out once, when the reader is opened. */
export type OrderedPlan<Term = unknown> = {
  readonly columns: readonly string[]
  /** What rows are ordered by, in this order: cursor, key, digest. */
  readonly order: readonly Term[]
  /** Whether the last term is a digest of the row: rows that are equal in all columns are then equal in it, too. */
  readonly digest: boolean
  /** Names of the terms: a cursor that was kept under other names says nothing here. */
  readonly orderNames: readonly string[]
  /** Upper bound of the cursor, as text; absent where all is read. */
  readonly bound: string | undefined
  /** An incremental read finds no cursor at all. */
  readonly empty: boolean
  readonly rowsEstimated: number | undefined
}

/** A database whose rows are read in their order by one statement that begins at any of them. */
export type OrderedDatabase<Session extends DatabaseSession, Plan extends OrderedPlan> = {
  readonly openSession: OpenSession<Session>
  /** Begins a transaction that sees one snapshot. */
  readonly begin: (session: Session) => Promise<void>
  /** Asks the database what there is to read. */
  readonly plan: (session: Session) => Promise<Plan>
  /** The rows behind a spot, as the server sends them, in a transaction that has begun. */
  readonly rows: (session: Session, plan: Plan, from: Spot) => AsyncIterable<readonly ReadRow[]>
}

/** Opens a reader: asks the database what there is to read, and notes up to where. */
export async function openOrdered<Session extends DatabaseSession, Plan extends OrderedPlan>(
  context: SourceContext,
  place: Place,
  { cursor, waitMs }: Reading,
  { openSession, begin, plan: planIn, rows }: OrderedDatabase<Session, Plan>,
): Promise<SourceReader> {
  const beginAndPlan = async (session: Session): Promise<Plan> => {
    await begin(session)
    return planIn(session)
  }
  const plan = await inSession(await openSession(context, place), beginAndPlan, waitMs)
  const earlier = cursorOf(context.cursor, plan.orderNames)
  let current: Session | undefined
  return {
    ...(plan.rowsEstimated === undefined || earlier ? {} : { total: { rows: plan.rowsEstimated } }),
    async *read(after) {
      const from = afterIn(after, plan.order.length)
      if (plan.empty && !from) return
      const session = await openSession(context, place)
      current = session
      try {
        const spot = from ?? { after: undefined, skip: 0, ...earlier, bound: plan.bound }
        await session.guard(() => begin(session))
        yield* chunksOf({ ...plan, incremental: cursor !== undefined }, spot, rows(session, plan, spot))
        await session.close()
      } finally {
        // A reader that stops early does not wait for the rest of the rows.
        session.abandon()
        await session.close()
      }
    },
    async close() {
      current?.abandon()
      await current?.close()
    },
  }
}
