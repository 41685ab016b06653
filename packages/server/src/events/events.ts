import { databaseNow } from '../db/clock.ts'
import type { Db } from '../db/database.ts'
import { newIdentifier } from '../identifiers.ts'
import { unixSeconds } from '../time.ts'
import { emitEvent, insertEvent } from './queries.ts'

/**
 * Events for the webhooks of an organization. Triggers write most events (`emit_event` in schema.sql), in the transaction of
 * the change. A rule writes an event itself if no change of a single row represents it:
 *
 *   await emit(tx, { type: 'alert.opened', organizationId, accountId, connectionId, data: { … } })
 *
 * It is sent after the commit, at least once, and in order with the other events of the connection, or of the sub-account if
 * there is no connection. Add the type with its schema to `wire/events.ts`. The data never contains a secret or a value of a
 * record.
 */
export type NewEvent = {
  readonly type: string
  readonly organizationId: string
  /** Webhooks of this sub-account get it too. Null means only webhooks of the organization. */
  readonly accountId: string | null
  readonly connectionId: string | null
  readonly data: object
}

/** Writes an event. If no webhook subscribes to it, this costs one index lookup. */
export async function emit(tx: Db, { data, ...event }: NewEvent): Promise<void> {
  await emitEvent.first(tx, { ...event, data: JSON.stringify(data) })
}

/** Writes an event that is queued for no webhook yet, and returns its identifier. */
export async function writeEvent(
  tx: Db,
  { type, organizationId, accountId, connectionId, data }: NewEvent,
): Promise<string> {
  const id = newIdentifier()
  const timestamp = unixSeconds(await databaseNow(tx))
  const payload = JSON.stringify({ type, timestamp, organizationId, accountId, connectionId, data })
  await insertEvent.run(tx, { id, organizationId, type, payload })
  return id
}
