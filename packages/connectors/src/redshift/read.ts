import type { SourceContext, SourceReader } from '@penstock/connector'
import type { Spot } from '../databases/checkpoints.ts'
import type { ReadRow } from '../databases/chunks.ts'
import { openOrdered } from '../databases/read-ordered.ts'
import { placeOf, readingOf } from '../databases/settings.ts'
import type { PostgresSession } from '../postgresql/session.ts'
import { cellOf } from './cells.ts'
import { planReading, type RedshiftPlan, statementOf } from './plan.ts'
import { defaultPort, openRedshift, runEach } from './session.ts'
import { streamRows } from './stream.ts'

/** Opens a reader: asks Redshift what there is to read, and notes up to where. */
export async function open(context: SourceContext): Promise<SourceReader> {
  const reading = readingOf(context.settings, 'public')
  return openOrdered(context, placeOf(context.secrets, defaultPort), reading, {
    openSession: openRedshift,
    begin: async (session) => void (await runEach(session, ['begin read only'])),
    plan: (session) => planReading(session, reading),
    async countUnread(session, { countUnread }) {
      const [row] = countUnread === undefined ? [] : await session.rows(countUnread, { rows_unread: 'integer' })
      return row?.rows_unread ?? 0
    },
    rows: (session, plan, from) => rowsOf(session, plan, from, reading.waitMs),
  })
}

/** The rows behind a spot, as the server sends them. */
async function* rowsOf(
  session: PostgresSession,
  plan: RedshiftPlan,
  from: Spot,
  waitMs: number,
): AsyncGenerator<ReadRow[]> {
  const { described, order, width } = plan
  const { text, values } = statementOf(plan, from)
  for await (const rows of streamRows(session, text, values, waitMs)) {
    yield rows.map(({ fields, bytes }) => {
      if (fields.length !== width) throw session.unexpected('a row without the columns that were asked for')
      return {
        spot: order.map(({ index }) => fields[index] ?? null),
        cells: described.map((column, at) => cellOf(fields[at] ?? null, column)),
        bytes,
      }
    })
  }
}
