import { ConnectorError } from '@penstock/connector'
import { tooSlow } from '../../databases/problems.ts'
import { createRowQueue } from '../../databases/row-queue.ts'
import { quoteName } from '../plan.ts'
import type { MysqlSession } from '../session.ts'
import { BrokenEvent } from './bytes.ts'
import { EventReader, type LogEvent } from './events.ts'
import type { LogPlace, LogServer } from './server.ts'

const dumpCommand = 0x12
/** The server sends the log up to its present end, and does not wait for more. */
const endsFlag = 1
/** The command has four bytes for the offset. */
export const positionMax = 0xffff_ffff

/**
 * The events of the log from a place on, up to its present end. The identifier of this replica is 0, as that of `mysqlbinlog`: it is not
 * registered, so that it cannot cut off another replica, nor be cut off.
 * @param waitMs how long the server may send nothing
 * Throws `changes_lost` if the server does not have this place any more, and `CutLog` if a file ends in the middle of an event.
 */
export async function* eventsFrom(
  session: MysqlSession,
  server: LogServer,
  { file, position }: LogPlace,
  waitMs: number,
): AsyncGenerator<LogEvent[]> {
  await session.guard(async () => {
    // Both names, of which each server knows one.
    const value = `'${server.checksum}'`
    await session.run(`set @master_binlog_checksum = ${value}, @source_binlog_checksum = ${value}`)
    // MariaDB would rewrite its own events for a reader that does not know them, and fails with those of XA.
    if (server.isMariadb) await session.run('set @mariadb_slave_capability = 4')
    await session.run('set session net_write_timeout = 86400')
  })
  const queue = createRowQueue<Buffer>({ pause: () => session.pause(), resume: () => session.resume() }, waitMs, () => {
    const connectorError = tooSlow(session.place.host, waitMs)
    session.abandon(connectorError)
    queue.fail(connectorError)
  })
  let ended: unknown
  session.dump(requestOf(file, position), {
    event: (bytes) => queue.push(bytes, bytes.length),
    end: () => queue.end(),
    fail: (error, refusal) => {
      const problem = refusal ? refusalOf(session, error, refusal, file) : error
      if (refusal?.errno !== logError) return queue.fail(problem)
      // All that arrived before it counts: the end of a file, or the description of a file that another server wrote.
      ended = problem
      queue.end()
    },
  })
  const reader = new EventReader()
  try {
    for await (const batch of queue.drain()) {
      const events: LogEvent[] = []
      for (const bytes of batch) {
        const event = reader.read(bytes)
        if (event.kind === 'payload') for (const inner of event.events) events.push(reader.inner(inner))
        events.push(event)
      }
      yield events
    }
    if (ended !== undefined) throw ended
  } catch (error) {
    throw error instanceof BrokenEvent ? notRead(session, error) : error
  } finally {
    session.abandon()
  }
}

/** The error for a broken event. */
export const notRead = ({ place }: MysqlSession, { message }: BrokenEvent): ConnectorError =>
  new ConnectorError(
    'unexpected_response',
    `The binary log of ${place.host} cannot be read: it has ${message}. Report this with the version of the server.`,
  )

function requestOf(file: string, position: number): Buffer {
  const name = Buffer.from(file)
  const request = Buffer.alloc(11 + name.length)
  request.writeUInt8(dumpCommand)
  request.writeUInt32LE(position, 1)
  request.writeUInt16LE(endsFlag, 5)
  name.copy(request, 11)
  return request
}

/** A file of the log ends in the middle of an event, at which the server died. It rolled that transaction back, and began another file. */
export class CutLog extends Error {
  override readonly name = 'CutLog'
}

const logError = 1236

/** The error for a server that does not give its log. */
function refusalOf(
  { place }: MysqlSession,
  error: unknown,
  { errno, message }: { errno: number; message: string },
  file: string,
): unknown {
  if (errno !== logError) {
    if (!(error instanceof ConnectorError) || error.code !== 'permission_denied') return error
    return new ConnectorError(
      'permission_denied',
      `The user cannot read the binary log. Run: GRANT REPLICATION SLAVE, REPLICATION CLIENT ON *.* TO ${quoteName(place.user)}`,
    )
  }
  if (/truncated in the middle of event/i.test(message)) return new CutLog(message)
  if (/max_allowed_packet|max_packet/i.test(message)) {
    return new ConnectorError(
      'row_too_large',
      `A change is larger than ${place.host} sends (error ${errno}). Raise max_allowed_packet there, then start a new transfer.`,
    )
  }
  if (/binary log is not open|server.id was not set|server.id is 0/i.test(message)) {
    return new ConnectorError(
      'not_supported',
      `${place.host} does not give its binary log: start the server with log_bin and a server_id (error ${errno}).`,
    )
  }
  if (/could not (find|open)|purged|impossible position|file size|bogus data/i.test(message)) {
    return lost(
      `${place.host} does not have the file ${file} of its binary log, or not as far as the last transfer has read it (error ${errno}). The server removed it (binlog_expire_logs_seconds, PURGE BINARY LOGS), its log was reset, or the server was replaced, as by a failover. Keep the log for longer than transfers are apart`,
    )
  }
  return stopped(place.host, file)
}

/** The error for a server that ends its log for a reason of its own. */
export const stopped = (host: string, file: string): ConnectorError =>
  new ConnectorError(
    'statement_failed',
    `${host} stopped in its binary log, in or after ${file} (error ${logError}). Look at the log of the server.`,
  )

/** @param what a clause: what happened to the log */
export const lost = (what: string): ConnectorError =>
  new ConnectorError(
    'changes_lost',
    `${what}. Changes since the last transfer cannot be read. Reset the state of the connection: the next transfer then copies the whole table again.`,
  )
