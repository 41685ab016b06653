import { type ChangeLogContext, type ChangeLogMeasure, type ChangeLogStatus, ConnectorError } from '@penstock/connector'
import { inSession } from '../../databases/sessions.ts'
import { placeOf, readingOf } from '../../databases/settings.ts'
import { openSession } from '../session.ts'
import { checkServer, endOfLog, lagOf, timeOf } from './server.ts'
import { cursorIn, identityOf } from './stages.ts'
import { probeLog } from './stream.ts'

const waitMs = 30_000
/** From this share of the time for which the server keeps its log, the next file that it removes may be the one to read. */
const riskyShare = 0.8

const nothingRead: ChangeLogMeasure = {
  status: null,
  keptBytes: null,
  safeBytes: null,
  limitBytes: null,
  behindBytes: null,
  behindFiles: null,
  olderFiles: null,
  behindSeconds: null,
  keptSeconds: null,
  confirmed: null,
}

/** Measures how far the connection is behind in the binary log, and whether the server will remove what it needs. */
export async function measure(context: ChangeLogContext): Promise<ChangeLogMeasure> {
  const { from } = readingOf(context.settings, '')
  const place = placeOf(context.secrets, 3306)
  const cursor = 'table' in from ? cursorIn(context.cursor, identityOf(place.database, from.table)) : undefined
  const connect = () => openSession(context, place)
  const { server, end, ms, lag } = await inSession(await connect(), async (session) => {
    const server = await checkServer(session)
    const end = await endOfLog(session, server)
    const ms = await timeOf(session)
    return { server, end, ms, lag: cursor && (await lagOf(session, cursor, end)) }
  })
  const keptSeconds = server.keptSeconds || null
  if (!cursor || !lag) return { ...nothingRead, keptSeconds }
  const behindSeconds = cursor.readMs === undefined ? null : Math.max(0, Math.round((ms - cursor.readMs) / 1000))
  const isLost = await inSession(await connect(), (session) =>
    probeLog(session, server, cursor.file, cursor.log, waitMs).then(
      () => false,
      (error: unknown) => {
        if (error instanceof ConnectorError && error.code === 'changes_lost') return true
        throw error
      },
    ),
  )
  // The server never removes the file that it writes to.
  const isRisky =
    cursor.file !== end.file &&
    keptSeconds !== null &&
    behindSeconds !== null &&
    behindSeconds > riskyShare * keptSeconds
  const status: ChangeLogStatus = isLost ? 'lost' : isRisky ? 'unreserved' : 'reserved'
  if (isLost) return { ...nothingRead, status, behindSeconds, keptSeconds }
  const { bytes, files, older } = lag
  return {
    ...nothingRead,
    status,
    behindBytes: Math.max(0, bytes),
    behindFiles: files,
    olderFiles: older,
    behindSeconds,
    keptSeconds,
  }
}
