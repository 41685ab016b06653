import type pg from 'pg'
import { tooSlow } from '../databases/problems.ts'
import { createRowQueue } from '../databases/row-queue.ts'
import type { PostgresSession } from '../postgresql/session.ts'

/** A row of a result: the text of each value. */
export type StreamedRow = { readonly fields: readonly (string | null)[]; readonly bytes: number }

type Connection = Omit<pg.Connection, 'parse' | 'bind' | 'describe' | 'execute'> & {
  parse(query: { text: string }): void
  bind(config: { values: readonly string[] }): void
  describe(what: { type: 'P'; name: string }): void
  execute(config: { portal: string }): void
  sync(): void
}

/**
 * Runs a statement and yields its rows as they arrive, in groups. Redshift has no COPY to the client, and its cursors keep the
 * whole result on the leader node. So the rows are read from the connection, on which the server waits for the reader. Throws a
 * `ConnectorError`.
 * @param values of $1, $2 and so on
 * @param waitMs how long the server can be silent while rows are requested
 */
export async function* streamRows(
  session: PostgresSession,
  text: string,
  values: readonly string[],
  waitMs: number,
): AsyncGenerator<StreamedRow[]> {
  let stream: pg.Connection['stream'] | undefined
  let rows = 0
  let isComplete = false
  const queue = createRowQueue<StreamedRow>(
    { pause: () => stream?.pause(), resume: () => stream?.resume() },
    waitMs,
    () => session.abandon(tooSlow(session.place.host, waitMs)),
  )
  const stray = () => queue.fail(session.unexpected('an answer that does not belong to a SELECT'))
  session.stream({
    submit(given: pg.Connection) {
      const connection = given as unknown as Connection
      stream = given.stream
      // The extended protocol refuses more than one statement.
      given.stream.cork()
      connection.parse({ text })
      connection.bind({ values })
      connection.describe({ type: 'P', name: '' })
      connection.execute({ portal: '' })
      connection.sync()
      given.stream.uncork()
    },
    handleRowDescription() {},
    handleDataRow({ fields }: { fields: readonly (string | null)[] }) {
      const bytes = fields.reduce((sum, field) => sum + (field?.length ?? 0), 0)
      rows += 1
      queue.push({ fields, bytes }, bytes)
    },
    handlePortalSuspended: stray,
    handleEmptyQuery: stray,
    handleCopyInResponse: stray,
    handleCopyData: stray,
    handleCommandComplete({ text: tag }: { text: string }) {
      // PostgreSQL reports the number of rows. The version that Redshift is based on does not.
      isComplete = tag === 'SELECT' || tag === `SELECT ${rows}`
      if (!isComplete) stray()
    },
    handleError: (error: unknown) => queue.fail(session.problemOf(error)),
    handleReadyForQuery() {
      if (isComplete) queue.end()
      else stray()
    },
  } as pg.Submittable)
  yield* queue.drain()
}
