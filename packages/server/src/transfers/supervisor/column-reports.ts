import { type ColumnReport, extendMapping } from '@penstock/engine'
import { serviceActor } from '../../audit/record.ts'
import { changeMapping } from '../../connections/mapping.ts'
import type { Database } from '../../db/database.ts'
import type { WorkRow } from './claim-queries.ts'
import { findTransferMapping, saveTransferMapping } from './column-report-queries.ts'
import { Lost } from './endings.ts'
import { recordColumns } from './queries.ts'

/**
 * Stores the columns that changed since the last successful transfer. The mapping of the connection follows the changes, as does that of
 * the transfer, which was copied from it at the start: both or none. Throws `Lost` for a transfer that is
 * another worker's by now.
 * @returns the mapping of the transfer from now on; `null` if it did not change
 */
export async function reportColumns(
  database: Database,
  { id, attempt, connectionId }: WorkRow,
  { shape, changes, added, mapping }: ColumnReport,
): Promise<string | null> {
  const parameters = { id, attempt, connectionId, shape: JSON.stringify(shape), changes: JSON.stringify(changes) }
  if (added.length === 0 && mapping === undefined) {
    await recordColumns.run(database, parameters)
    return null
  }
  return database.transaction(async (tx) => {
    // Locks the connection, and the transfer after it: nothing of what is read next changes until the commit.
    if ((await recordColumns.run(tx, parameters)) === 0) throw new Lost()
    const found = await findTransferMapping.first(tx, { id, attempt })
    if (!found) return null
    const followed = mapping ?? found.mapping
    const extended = found.adds ? extendMapping(followed, added) : undefined
    const text = extended?.text ?? followed
    if (text === found.mapping) return null
    await saveTransferMapping.run(tx, { id, attempt, mapping: text })
    await changeMapping(tx, connectionId, { before: found.mapping, after: text, added: extended?.added ?? [] }, id)
    return text
  }, serviceActor)
}
