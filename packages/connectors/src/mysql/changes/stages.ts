import { ConnectorError, type Json } from '@penstock/connector'

/**
 * A place between two changes of the table: the end of a transaction in the log, and how many changes of the table were taken since.
 * The log does not change, so that the same changes follow in the same order.
 */
export type LogPosition = {
  readonly file: string
  readonly position: number
  readonly taken: number
  /** Identity of the file: the server that wrote it, and when. The file of another server can have the same name. */
  readonly log: string
  /** The column with the end of a row version, by which rows of the log are read from here on; empty if the table has no versions. */
  readonly rowEnd: string
}

/**
 * All changes that were committed up to this time are read; Unix time in milliseconds, by the clock of the server. Absent in cursors of
 * earlier versions, and while only rows of a copy are read.
 */
type ReadUntil = { readonly readMs?: number | undefined }

/** How far a transfer is: in the copy of the table, or in the changes since. */
export type LogStage =
  | ({ readonly phase: 'copy'; readonly at: Json } & LogPosition)
  | ({
      readonly phase: 'changes'
      readonly untilFile: string
      readonly untilPosition: number
      readonly untilMs?: number | undefined
    } & LogPosition &
      ReadUntil)

/** The place at which the next transfer continues. */
export type LogCursor = { readonly of: string } & LogPosition & ReadUntil

/** A cursor means nothing for another table. */
export const identityOf = (database: string, table: string): string => JSON.stringify([database, table])

const isRecord = (value: Json | undefined): value is { readonly [key: string]: Json } =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

const isCount = (value: Json | undefined): value is number => Number.isSafeInteger(value) && Number(value) >= 0

function positionIn({
  file,
  position,
  taken,
  log,
  rowEnd = '',
}: {
  readonly [key: string]: Json
}): LogPosition | undefined {
  if (typeof file !== 'string' || !isCount(position) || !isCount(taken) || typeof log !== 'string') return undefined
  if (typeof rowEnd !== 'string') return undefined
  return { file, position, taken, log, rowEnd }
}

const readUntilIn = ({ readMs = null }: { readonly [key: string]: Json }): ReadUntil =>
  isCount(readMs) ? { readMs } : {}

/** The cursor of an earlier transfer; `undefined` if there was none, or it is of another table. */
export function cursorIn(cursor: Json | undefined, identity: string): LogCursor | undefined {
  if (!isRecord(cursor) || cursor.of !== identity) return undefined
  const position = positionIn(cursor)
  return position && { of: identity, ...position, ...readUntilIn(cursor) }
}

/** The stage that a checkpoint of this transfer means. Throws `source_changed` if it is one of other settings. */
export function stageIn(checkpoint: Json | undefined): LogStage | undefined {
  if (checkpoint === undefined) return undefined
  const position = isRecord(checkpoint) ? positionIn(checkpoint) : undefined
  if (isRecord(checkpoint) && position) {
    const { phase, at = null, untilFile, untilPosition, untilMs = null } = checkpoint
    if (phase === 'copy') return { phase, at, ...position }
    if (phase === 'changes' && typeof untilFile === 'string' && isCount(untilPosition)) {
      return {
        phase,
        untilFile,
        untilPosition,
        ...(isCount(untilMs) && { untilMs }),
        ...position,
        ...readUntilIn(checkpoint),
      }
    }
  }
  throw new ConnectorError(
    'source_changed',
    'The settings of the source changed while the transfer was interrupted, so it cannot continue. Start a new one.',
  )
}
