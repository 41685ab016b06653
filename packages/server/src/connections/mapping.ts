import { extendMapping } from '@penstock/engine'
import { record, serviceActor } from '../audit/record.ts'
import type { Transaction } from '../db/database.ts'
import { holdMapping, saveMapping } from './mapping-queries.ts'

/**
 * Adds columns of the source to the mapping of a connection as it is by now: a person may have changed it since the transfer started.
 * Nothing changes if the connection is deleted, or the mapping has the columns, is empty, or would become too long.
 * @param columns names of columns
 * @param transferId the transfer that found them
 */
export async function addToMapping(
  tx: Transaction,
  id: string,
  columns: readonly string[],
  transferId: string,
): Promise<void> {
  const held = await holdMapping.first(tx, { id })
  const extended = held && extendMapping(held.mapping, columns)
  if (!extended || extended.added.length === 0) return
  await saveMapping.run(tx, { id, mapping: extended.text })
  const { organizationId, accountId, mapping } = held
  record(tx, {
    organizationId,
    actor: serviceActor,
    action: 'addColumns',
    accountId,
    targetId: id,
    before: { mapping },
    after: { mapping: extended.text },
    details: { transferId, columns: extended.added },
  })
}
