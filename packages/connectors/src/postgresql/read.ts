import type { SourceContext, SourceReader } from '@penstock/connector'
import type { Spot } from '../databases/checkpoints.ts'
import type { ReadRow } from '../databases/chunks.ts'
import { openOrdered } from '../databases/read-ordered.ts'
import { placeOf, readingOf } from '../databases/settings.ts'
import { decodeLine } from '../databases/tab-separated.ts'
import { cellOf } from './cells.ts'
import { copyOut } from './copy.ts'
import { knotsOf, type PostgresPlan, planReading, statementOf } from './plan.ts'
import { rawOffersOf, rawReadingOf, rawRowsOf } from './raw-read.ts'
import { openSession, type PostgresSession } from './session.ts'

/** One read-only transaction for everything, which sees one snapshot and writes times and intervals as ISO 8601 in UTC. */
export const beginReading = [
  'begin transaction isolation level repeatable read read only',
  "set local datestyle = 'ISO, YMD'",
  "set local timezone = 'UTC'",
  "set local intervalstyle = 'iso_8601'",
  'set local extra_float_digits = 1',
  "set local bytea_output = 'hex'",
  'set local idle_in_transaction_session_timeout = 0',
  'set local client_min_messages = error',
]

/** Opens a reader: asks the database what there is to read, and notes up to where. */
export async function open(context: SourceContext): Promise<SourceReader> {
  const reading = readingOf(context.settings, 'public')
  return openOrdered(context, placeOf(context.secrets, 5432), reading, {
    openSession,
    begin: async (session) => void (await session.execute(beginReading)),
    plan: (session) => planReading(session, reading, context),
    knots: (session, plan) => knotsOf(session, reading, plan),
    async countUnread(session, { countUnread }) {
      const [row] = countUnread === undefined ? [] : await session.rows(countUnread, { rows: 'integer' })
      return row?.rows ?? 0
    },
    rows: (session, plan, from) => rowsOf(session, plan, from, reading.waitMs),
    raw: {
      offersOf: rawOffersOf,
      reading: rawReadingOf,
      blocks: (session, plan, from, format) => rawRowsOf(session, plan, from, reading.waitMs, format),
    },
  })
}

/** The rows behind a spot, as the server sends them. */
export async function* rowsOf(
  session: PostgresSession,
  plan: PostgresPlan,
  from: Spot,
  waitMs: number,
): AsyncGenerator<ReadRow[]> {
  const { columns, kinds, order } = plan
  for await (const lines of copyOut(session, statementOf(plan, from), waitMs)) {
    yield lines.map(({ text, bytes, isText }) => {
      const fields = decodeLine(text)
      if (!isText) throw session.unexpected('a row that is not in UTF-8')
      if (!text.endsWith('\n') || fields.length !== plan.width) {
        throw session.unexpected('a row of COPY without the columns that were asked for')
      }
      return {
        spot: order.map(({ index }) => fields[index] ?? null),
        cells: columns.map((_, at) => cellOf(fields[at] ?? null, kinds[at] ?? 'text')),
        bytes,
      }
    })
  }
}
