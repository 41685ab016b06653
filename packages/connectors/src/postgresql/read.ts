import { type Cell, type Chunk, Outcome, type SourceContext, type SourceReader } from '@penstock/connector'
import { afterIn, markerIn, markerOf, positionOf, type Spot } from '../databases/positions.ts'
import { placeOf, type Reading, readingOf } from '../databases/settings.ts'
import { cellOf } from './cells.ts'
import { copyOut } from './copy.ts'
import { decodeLine } from './copy-text.ts'
import { type Plan, planReading, statementOf } from './plan.ts'
import { openSession, type Session } from './session.ts'

const rowsMax = 5_000
const bytesMax = 1024 * 1024

/** Everything in one transaction that can only read, sees one moment, and writes times and intervals as ISO 8601 in UTC. */
const begin = `begin transaction isolation level repeatable read read only;
  set local datestyle = 'ISO, YMD'; set local timezone = 'UTC'; set local intervalstyle = 'iso_8601';
  set local extra_float_digits = 1; set local idle_in_transaction_session_timeout = 0`

/** Opens a reader: asks the database what there is to read, and notes up to where. */
export async function open(context: SourceContext): Promise<SourceReader> {
  const place = placeOf(context.secrets, 5432)
  const reading = readingOf(context.settings, 'public')
  const plan = await inTransaction(await openSession(context, place), (session) => planReading(session, reading))
  const earlier = markerOf(context.marker, plan.orderNames)
  let current: Session | undefined
  return {
    ...(plan.rowsEstimated === undefined || earlier ? {} : { total: { rows: plan.rowsEstimated } }),
    async *read(after) {
      const from = afterIn(after, plan.order.length)
      if (plan.empty && !from) return
      const session = await openSession(context, place)
      current = session
      try {
        yield* chunksOf(session, plan, reading, from ?? { after: undefined, skip: 0, ...earlier, bound: plan.bound })
        await session.close()
      } finally {
        // Whoever stops in the midst does not wait for the rest of the rows.
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

async function inTransaction<T>(session: Session, work: (session: Session) => Promise<T>): Promise<T> {
  try {
    return await session.guard(async () => {
      await session.run(begin)
      return work(session)
    })
  } finally {
    await session.close()
  }
}

async function* chunksOf(session: Session, plan: Plan, reading: Reading, from: Spot): AsyncGenerator<Chunk> {
  const { columns, kinds, order, digest } = plan
  await session.guard(() => session.run(begin))
  let { after: last, skip } = from
  let toSkip = skip
  let rows: Cell[][] = []
  let bytes = 0
  const chunk = (): Chunk => {
    const spot = { after: last, skip, bound: from.bound }
    const full = { columns, rows, bytes, position: positionOf(spot) }
    rows = []
    bytes = 0
    return reading.marker === undefined ? full : { ...full, marker: markerIn(plan.orderNames, spot) }
  }
  for await (const lines of copyOut(session, statementOf(plan, last, from.bound), reading.waitMs)) {
    for (const line of lines) {
      const fields = decodeLine(line)
      const spot: string[] = []
      for (const { index } of order) {
        const text = fields[index] ?? null
        if (text === null) throw keyMissing()
        spot.push(text)
      }
      const same = last !== undefined && spot.every((text, at) => text === last?.[at])
      if (same && !digest) throw keyNotUnique()
      if (same && toSkip > 0) {
        toSkip -= 1
        continue
      }
      toSkip = 0
      skip = same ? skip + 1 : 1
      last = spot
      rows.push(columns.map((_, at) => cellOf(fields[at] ?? null, kinds[at] ?? 'text')))
      bytes += Buffer.byteLength(line)
      if (rows.length >= rowsMax || bytes >= bytesMax) yield chunk()
    }
  }
  if (rows.length > 0) yield chunk()
}

const keyMissing = (): Outcome =>
  new Outcome(
    'failed',
    'key_missing',
    'A row has no value in a key column, so its place cannot be kept; name key columns that always have one, or none.',
  )

const keyNotUnique = (): Outcome =>
  new Outcome(
    'failed',
    'key_not_unique',
    'Two rows have the same values in the key columns; name columns that together tell all rows apart, or none.',
  )
