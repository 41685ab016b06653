import { ConnectorError, type SourceContext, type SourceReader } from '@penstock/connector'
import type { ReadRow } from '../databases/chunks.ts'
import { tooSlow } from '../databases/problems.ts'
import { openOrdered } from '../databases/read-ordered.ts'
import { createRowQueue } from '../databases/row-queue.ts'
import { placeOf, readingOf } from '../databases/settings.ts'
import { cellOf } from './cells.ts'
import { knotsOf, type MysqlPlan, planReading, rowKeysStatement, statementOf } from './plan.ts'
import { countIn, textOf } from './raw-rows.ts'
import { type MysqlSession, openSession } from './session.ts'
import { waitForWriters } from './settled.ts'

/** Times in UTC, and a write timeout of the server that is long enough for a slow destination. */
export const settle =
  `set session time_zone = '+00:00', session net_write_timeout = 86400 ` +
  // A server of MariaDB can show sessions the rows of system-versioned tables at another time.
  `/*M!100304 , session system_versioning_asof = default */`
/** Whatever the server's own default is. */
export const oneSnapshot = 'set session transaction isolation level repeatable read'

/** Opens a reader: asks the server what there is to read, and notes up to where. */
export async function open(context: SourceContext): Promise<SourceReader> {
  const reading = readingOf(context.settings, '')
  const place = placeOf(context.secrets, 3306)
  return openOrdered(context, place, reading, {
    openSession,
    async begin(session) {
      await session.run(settle)
      await session.run(oneSnapshot)
      await session.run('start transaction read only')
    },
    plan: (session) => planReading(session, reading),
    knots: (session, plan) => knotsOf(session, plan),
    settle: (plan, from, bound) =>
      waitForWriters({
        from,
        lagSeconds: reading.lagSeconds,
        waitMs: reading.waitMs,
        signal: context.signal,
        openSession: () => openSession(context, place),
        statement: (since) => rowKeysStatement(plan, since, bound),
      }),
    async countUnread(session, { countUnread }) {
      if (countUnread === undefined) return 0
      const [row] = await session.run(countUnread)
      return countIn(place.host, row, 'rows')
    },
    rows: (session, plan, from) => rowsOf(session, plan, statementOf(plan, from), reading.waitMs),
  })
}

/** The rows of a statement of the plan, as the server sends them. */
export async function* rowsOf(
  session: MysqlSession,
  plan: MysqlPlan,
  statement: string,
  waitMs: number,
): AsyncGenerator<ReadRow[]> {
  const { columns, kinds, order } = plan
  const queue = createRowQueue<ReadRow>(
    { pause: () => session.pause(), resume: () => session.resume() },
    waitMs,
    () => {
      const connectorError = tooSlow(session.place.host, waitMs)
      session.abandon(connectorError)
      queue.fail(connectorError)
    },
  )
  session.stream(statement, {
    row(values) {
      let bytes = 0
      for (const value of values) bytes += (value?.length ?? 0) + 1
      const broken: string[] = []
      const cells = columns.map((name, at) => {
        const cell = cellOf(values[at] ?? null, kinds[at] ?? 'text')
        if (cell === undefined) broken.push(name)
        return cell ?? null
      })
      const spot = order.map(({ index }) => spotOf(values[index] ?? null))
      const [field] = broken
      queue.push({ spot, cells, bytes, ...(field === undefined ? {} : { problem: noText(field) }) }, bytes)
    },
    end: () => queue.end(),
    fail: (error) => queue.fail(error),
  })
  yield* queue.drain()
}

function spotOf(value: Buffer | null): string | null {
  const text = value === null ? null : textOf(value)
  if (text !== undefined) return text
  throw new ConnectorError(
    'statement_failed',
    'A key contains bytes that are not UTF-8 text; select other key columns.',
  )
}

const noText = (column: string): string => `The column ${column} contains bytes that are not text in UTF-8.`
