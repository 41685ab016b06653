import { ConnectorError, type SourceContext, type SourceReader } from '@penstock/connector'
import { afterIn, cursorOf, type Spot } from '../databases/checkpoints.ts'
import { chunksOf, type ReadRow } from '../databases/chunks.ts'
import { tooSlow } from '../databases/problems.ts'
import { createRowQueue } from '../databases/row-queue.ts'
import { placeOf, readingOf } from '../databases/settings.ts'
import { cellOf } from './cells.ts'
import { type MysqlPlan, planReading, statementOf } from './plan.ts'
import { textOf } from './raw-rows.ts'
import { type MysqlSession, openSession } from './session.ts'

/** Times in UTC, and a write timeout of the server that is long enough for a slow destination. */
const settle = `set session time_zone = '+00:00', session net_write_timeout = 86400`

/** Opens a reader: asks the server what there is to read, and notes up to where. */
export async function open(context: SourceContext): Promise<SourceReader> {
  const place = placeOf(context.secrets, 3306)
  const reading = readingOf(context.settings, '')
  const first = await openSession(context, place)
  let plan: MysqlPlan
  try {
    plan = await first.guard(async () => {
      await begin(first)
      return planReading(first, reading)
    }, reading.waitMs)
  } finally {
    await first.close()
  }
  const earlier = cursorOf(context.cursor, plan.orderNames)
  let current: MysqlSession | undefined
  return {
    ...(plan.rowsEstimated === undefined || earlier ? {} : { total: { rows: plan.rowsEstimated } }),
    async *read(after) {
      const from = afterIn(after, plan.order.length)
      if (plan.empty && !from) return
      const session = await openSession(context, place)
      current = session
      try {
        const spot = from ?? { after: undefined, skip: 0, ...earlier, bound: plan.bound }
        const order = { ...plan, incremental: reading.cursor !== undefined }
        yield* chunksOf(order, spot, rowsOf(session, plan, spot, reading.waitMs))
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

async function begin(session: MysqlSession): Promise<void> {
  await session.run(settle)
  await session.run('start transaction read only')
}

/** The rows behind a spot, as the server sends them: one statement, which sees one snapshot. */
async function* rowsOf(session: MysqlSession, plan: MysqlPlan, from: Spot, waitMs: number): AsyncGenerator<ReadRow[]> {
  const { columns, kinds, order } = plan
  await session.guard(() => begin(session))
  const queue = createRowQueue<ReadRow>(
    { pause: () => session.pause(), resume: () => session.resume() },
    waitMs,
    () => {
      const connectorError = tooSlow(session.place.host, waitMs)
      session.abandon(connectorError)
      queue.fail(connectorError)
    },
  )
  session.stream(statementOf(plan, from.after, from.bound), {
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
  throw new ConnectorError('statement_failed', 'A key holds bytes that are no text in UTF-8; choose other key columns.')
}

const noText = (column: string): string => `The column ${column} holds bytes that are no text in UTF-8.`
