import type { Connector, Values } from '@penstock/connector'
import { mirrorsRows, sideSettings } from '@penstock/engine'
import type { Db } from '../db/database.ts'
import { insertsAgain } from './inserts-again.ts'
import { sentBefore } from './state-queries.ts'

/** Consequences for people of a transfer that reads the source from its beginning though rows were sent before. */

export type Consequence = { readonly code: 'rows_inserted_again' | 'removed_rows_stay'; readonly message: string }

/** The connection, with the settings that the transfer has. */
export type ReadingAgain = {
  readonly connectionId: string
  readonly srcConfig: Values
  readonly destConfig: Values
  /** Whether the cursor does not count, though there is one. */
  readonly forgets?: boolean
}

export async function consequencesOf(
  db: Db,
  connectors: { readonly source: Connector; readonly destination: Connector },
  connection: ReadingAgain,
): Promise<Consequence[]> {
  const repeats = await insertsAgain(db, connectors, connection)
  const stay = await removedRowsStay(db, connectors, connection)
  return [
    ...(repeats === undefined ? [] : [{ code: 'rows_inserted_again' as const, message: repeats }]),
    ...(stay === undefined ? [] : [{ code: 'removed_rows_stay' as const, message: stay }]),
  ]
}

/**
 * Whether rows stay at the destination of which no change tells that they were removed, because the table is copied again.
 * @returns a sentence that says what to do; `undefined` if none stay
 */
export async function removedRowsStay(
  db: Db,
  { source, destination }: { readonly source: Connector; readonly destination: Connector },
  { connectionId, srcConfig, destConfig, forgets = false }: ReadingAgain,
): Promise<string | undefined> {
  if (sideSettings(source, 'Source', srcConfig).syncMode !== 'Changes') return undefined
  const settings = sideSettings(destination, 'Destination', destConfig)
  if (mirrorsRows(settings)) return undefined
  const { sent = false, lastTime } = (await sentBefore.first(db, { connectionId, forgets })) ?? {}
  if (!sent) return undefined
  const since = lastTime
    ? `since ${lastTime.toISOString().slice(0, 16).replace('T', ' ')} UTC, when the last transfer succeeded,`
    : 'since the first rows were sent'
  const canMirror = destination.destination?.deliver?.removesBy?.(settings) !== undefined
  const remedy = canMirror
    ? 'Remove them there. With "Rows to send" set to Mirror, later copies remove such rows'
    : 'Remove them there'
  return `The table is copied again. Rows that were removed from it ${since} and before the copy can stay at the destination. ${remedy}.`
}
