import { ConnectorError, type Json } from '@penstock/connector'
import type { ChangesPlace } from './slot.ts'
import { lsnIn, type Snapshot, snapshotIn } from './snapshot.ts'

/** How far a transfer is: in the copy of the table, or in the changes since. */
export type Stage =
  | { readonly phase: 'copy'; readonly lsn: string; readonly snapshot: string; readonly at: Json }
  | {
      readonly phase: 'changes'
      readonly lsn: string
      readonly taken: number
      /** Seen by the copy; absent once all of that is behind. */
      readonly snapshot?: string
      readonly until: string
    }

/** The place at which the next transfer continues. */
export type Cursor = { readonly of: string; readonly lsn: string; readonly taken: number; readonly snapshot?: string }

/** A cursor means nothing for another table, or another slot. */
export const identityOf = ({ schema, table, slot }: ChangesPlace): string => JSON.stringify([schema, table, slot])

const isRecord = (value: Json | undefined): value is { readonly [key: string]: Json } =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

const isCount = (value: Json | undefined): value is number => Number.isSafeInteger(value) && Number(value) >= 0

/** The cursor of an earlier transfer; `undefined` if there was none, or it is of another table or slot. */
export function cursorIn(cursor: Json | undefined, identity: string): Cursor | undefined {
  if (!isRecord(cursor)) return undefined
  const { of, lsn, taken, snapshot } = cursor
  if (of !== identity || typeof lsn !== 'string' || !isCount(taken)) return undefined
  return { of: identity, lsn, taken, ...(typeof snapshot === 'string' && { snapshot }) }
}

/** The stage that a checkpoint of this transfer means. Throws `source_changed` if it is one of other settings. */
export function stageIn(checkpoint: Json | undefined): Stage | undefined {
  if (checkpoint === undefined) return undefined
  if (isRecord(checkpoint)) {
    const { phase, lsn, snapshot, at = null, taken, until } = checkpoint
    if (phase === 'copy' && typeof lsn === 'string' && typeof snapshot === 'string') return { phase, lsn, snapshot, at }
    if (phase === 'changes' && typeof lsn === 'string' && isCount(taken) && typeof until === 'string') {
      return { phase, lsn, taken, until, ...(typeof snapshot === 'string' && { snapshot }) }
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
