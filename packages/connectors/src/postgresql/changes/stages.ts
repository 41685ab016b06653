import { ConnectorError, type Json } from '@penstock/connector'
import type { ChangesPlace } from './slot.ts'
import { lsnIn, type Snapshot, snapshotIn } from './snapshot.ts'
import { type Stamp, stampIn } from './stamp.ts'

/** How far a transfer is: in the copy of the table, or in the changes since. Earlier versions stored no `table`. */
export type Stage =
  | {
      readonly phase: 'copy'
      readonly lsn: string
      readonly snapshot: string
      readonly at: Json
      readonly table?: Stamp | undefined
    }
  | {
      readonly phase: 'changes'
      readonly table?: Stamp | undefined
      readonly lsn: string
      readonly taken: number
      /** Seen by the copy; absent once all of that is behind. */
      readonly snapshot?: string
      readonly until: string
      /** When the server had come to `until`, and when the last change was committed that is read; of none in earlier versions. */
      readonly untilMs?: number | undefined
      readonly readMs?: number | undefined
    }

/** The place at which the next transfer continues. */
export type Cursor = {
  readonly of: string
  readonly lsn: string
  readonly taken: number
  readonly snapshot?: string
  readonly table?: Stamp | undefined
  /** All changes that were committed up to this time are read; Unix time in milliseconds, by the clock of the server. */
  readonly readMs?: number | undefined
}

/** A cursor means nothing for another table, or another slot. */
export const identityOf = ({ schema, table, slot }: ChangesPlace): string => JSON.stringify([schema, table, slot])

const isRecord = (value: Json | undefined): value is { readonly [key: string]: Json } =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

const isCount = (value: Json | undefined): value is number => Number.isSafeInteger(value) && Number(value) >= 0

/** The cursor of an earlier transfer; `undefined` if there was none, or it is of another table or slot. */
export function cursorIn(cursor: Json | undefined, identity: string): Cursor | undefined {
  if (!isRecord(cursor)) return undefined
  const { of, lsn, taken, snapshot, readMs } = cursor
  const table = stampIn(cursor.table)
  if (of !== identity || typeof lsn !== 'string' || !isCount(taken)) return undefined
  return {
    of: identity,
    lsn,
    taken,
    table,
    ...(typeof snapshot === 'string' && { snapshot }),
    ...(isCount(readMs) && { readMs }),
  }
}

/** The stage that a checkpoint of this transfer means. Throws `source_changed` if it is one of other settings. */
export function stageIn(checkpoint: Json | undefined): Stage | undefined {
  if (checkpoint === undefined) return undefined
  if (isRecord(checkpoint)) {
    const { phase, lsn, snapshot, at = null, taken, until, untilMs, readMs } = checkpoint
    const table = stampIn(checkpoint.table)
    if (phase === 'copy' && typeof lsn === 'string' && typeof snapshot === 'string')
      return { phase, lsn, snapshot, at, table }
    if (phase === 'changes' && typeof lsn === 'string' && isCount(taken) && typeof until === 'string') {
      return {
        phase,
        lsn,
        taken,
        until,
        table,
        ...(typeof snapshot === 'string' && { snapshot }),
        ...(isCount(untilMs) && { untilMs }),
        ...(isCount(readMs) && { readMs }),
      }
    }
  }
  throw new ConnectorError(
    'source_changed',
    'The settings of the source changed while the transfer was interrupted, so it cannot continue. Start a new one.',
  )
}

/** The number of a place that was stored. */
export function lsnOf(text: string): bigint {
  const lsn = lsnIn(text)
  if (lsn === undefined) throw new Error('A place in the log is none')
  return lsn
}

/** The transactions that the copy has seen; `undefined` once all of that is behind. */
export const seenIn = (text: string | undefined): Snapshot | undefined =>
  text === undefined ? undefined : snapshotIn(text)
