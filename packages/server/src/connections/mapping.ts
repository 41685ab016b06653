import { extendMapping } from '@penstock/engine'
import { record, serviceActor } from '../audit/record.ts'
import type { Transaction } from '../db/database.ts'
import { holdMapping, saveMapping } from './mapping-queries.ts'

/** How the mapping of a transfer changed. */
export type MappingChange = {
  readonly before: string
  readonly after: string
  /** Columns of the source that it got. */
  readonly added: readonly string[]
}

/**
 * Updates the mapping of a connection to the mapping of a transfer. If a person has changed it since the transfer started, it
 * only gets the added columns. Nothing changes if the connection is deleted, or the mapping would become too long.
 * @param transferId the transfer that found the columns
 */
export async function changeMapping(
  tx: Transaction,
  id: string,
  { before, after, added }: MappingChange,
  transferId: string,
): Promise<void> {
  const held = await holdMapping.first(tx, { id })
  if (!held) return
  const text = held.mapping === before ? after : (extendMapping(held.mapping, added)?.text ?? held.mapping)
  if (text === held.mapping) return
  await saveMapping.run(tx, { id, mapping: text })
  const { organizationId, accountId, mapping } = held
  record(tx, {
    organizationId,
    actor: serviceActor,
    action: 'addColumns',
    accountId,
    targetId: id,
    before: { mapping },
    after: { mapping: text },
    details: { transferId, columns: added },
  })
}
