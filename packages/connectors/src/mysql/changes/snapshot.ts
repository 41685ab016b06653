import { ConnectorError } from '@penstock/connector'
import { quoteName } from '../plan.ts'
import { valueIn } from '../raw-rows.ts'
import { oneSnapshot, settle } from '../read.ts'
import type { MysqlSession } from '../session.ts'
import { endOfLog, type LogPlace, type LogServer, placeIn } from './server.ts'
import type { TableName } from './statements.ts'

const snapshot = 'start transaction with consistent snapshot, read only'

/**
 * Begins the copy of the table in one snapshot, and answers the place in the log that belongs to it: the changes of the table
 * before the place are the same that the snapshot has.
 *
 * A transaction is in the log before others can see its rows, so the end of the log says nothing about a snapshot. MariaDB gives the
 * place of each snapshot. For MySQL the table is locked against changes while the end of the log is read and the snapshot begins: a
 * transaction holds its own lock of the table until its rows can be seen.
 * @param other gives another session, for the lock
 */
export async function beginCopy(
  session: MysqlSession,
  server: LogServer,
  table: TableName,
  other: () => Promise<MysqlSession>,
): Promise<LogPlace> {
  const { host } = session.place
  await session.run(settle)
  await session.run(oneSnapshot)
  if (!server.isMariadb) return underLock(session, server, table, await other())
  await session.run(snapshot)
  const rows = await session.run(`show status like 'binlog_snapshot_%'`)
  const found = new Map(rows.map((row) => [valueIn(host, row, 'Variable_name').toLowerCase(), row.Value]))
  const place = placeIn(host, found.get('binlog_snapshot_file'), found.get('binlog_snapshot_position'))
  // Their changes are before the place, and in no snapshot.
  if ((await session.run('xa recover')).length > 0) throw prepared(host)
  return place
}

/** Begins another snapshot for the rest of a copy that was interrupted. */
export async function continueCopy(session: MysqlSession): Promise<void> {
  await session.run(settle)
  await session.run(oneSnapshot)
  await session.run(snapshot)
}

const lockSeconds = 5

/** The same for MySQL, whose table is locked for a few statements. */
async function underLock(
  session: MysqlSession,
  server: LogServer,
  { table }: TableName,
  locker: MysqlSession,
): Promise<LogPlace> {
  return locker.guard(async () => {
    await locker.run(`set session lock_wait_timeout = ${lockSeconds}`)
    try {
      await locker.run(`lock tables ${quoteName(table)} read`)
    } catch (error) {
      throw lockProblem(locker, error, table)
    }
    try {
      const place = await endOfLog(locker, server)
      await session.run(snapshot)
      return place
    } finally {
      await locker.run('unlock tables')
    }
  })
}

function lockProblem(session: MysqlSession, error: unknown, table: string): unknown {
  const problem = session.problemOf(error)
  if (!(problem instanceof ConnectorError)) return error
  const { database, user } = session.place
  if (problem.code === 'conflict') {
    return new ConnectorError(
      'conflict',
      `A transaction has changed ${table} and has not ended for ${lockSeconds} seconds, so the copy cannot begin.`,
    )
  }
  // The server takes a user without the privilege for one who may not use the database.
  if (problem.code !== 'permission_denied' && problem.code !== 'invalid_credentials') return error
  return new ConnectorError(
    'permission_denied',
    `The user cannot lock the table, as the beginning of a copy needs. Run: GRANT LOCK TABLES ON ${quoteName(database)}.* TO ${quoteName(user)}`,
  )
}

const prepared = (host: string): ConnectorError =>
  new ConnectorError(
    'conflict',
    `${host} has distributed transactions that are prepared and not committed (XA RECOVER). A copy cannot begin before they end.`,
  )
