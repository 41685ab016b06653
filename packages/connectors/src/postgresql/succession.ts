import { ConnectorError } from '@penstock/connector'
import pg from 'pg'
import type { PostgresSession } from './session.ts'

/**
 * Prevents a writer that stopped without ending from blocking the writer that continues its transfer. A runner that
 * sleeps, or whose machine no longer responds, holds its transaction, and with it the batch and rows of the table.
 */

/** The name of the connections of one attempt, by which the next one finds them. */
export const sessionNameOf = (transferId: string, attempt: number): string => `penstock ${transferId} ${attempt}`

/**
 * Ends the connections of earlier attempts, and rolls back their transactions. A user can end their own connections. If
 * a server does not allow it, the time limits of the transaction end it later.
 * Throws `retry` if a later attempt is connected, because this attempt was assumed to be dead.
 */
export async function succeed(session: PostgresSession, transferId: string, attempt: number): Promise<void> {
  const others = await orNone(() =>
    session.rows(
      `select case when split_part(application_name, ' ', 3)::int8 > $2::int8 then true
                   else pg_terminate_backend(pid) is null end as later
         from pg_stat_activity
        where pid <> pg_backend_pid() and datname = current_database() and usename = current_user
          and application_name ~ ('^penstock ' || $1::text || ' [0-9]{1,9}$')
          and split_part(application_name, ' ', 3) <> $2::text`,
      { later: 'boolean' },
      [transferId, String(attempt)],
    ),
  )
  if (others.some(({ later }) => later)) throw takenOver()
}

const takenOver = (): ConnectorError =>
  new ConnectorError('conflict', 'Another worker has taken the transfer over: this one was taken for dead.')

/** Settings that a transaction has the server look for its client with: it is there, and takes what it is sent. */
const keepAlives: Readonly<Record<string, string>> = {
  tcp_keepalives_idle: '10s',
  tcp_keepalives_interval: '5s',
  tcp_keepalives_count: '2',
  tcp_user_timeout: '20s',
}

/** The statements that begin a transaction with these settings, as far as the server knows them: older ones do not. */
export async function keepAlivesOf(session: PostgresSession): Promise<string[]> {
  const known = await orNone(() =>
    session.rows('select name from pg_settings where name = any($1::text[])', { name: 'text' }, [
      Object.keys(keepAlives),
    ]),
  )
  return known.flatMap(({ name }) => {
    const value = keepAlives[name]
    return value === undefined ? [] : [`set local ${name} = ${pg.escapeLiteral(value)}`]
  })
}

/** None where the server refuses: it is not needed to write. */
async function orNone<T>(rows: () => Promise<T[]>): Promise<T[]> {
  try {
    return await rows()
  } catch (error) {
    if (error instanceof pg.DatabaseError) return []
    throw error
  }
}
