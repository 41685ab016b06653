import { type ColumnReport, extendMapping } from '@penstock/engine'
import { serviceActor } from '../../audit/record.ts'
import { addToMapping } from '../../connections/mapping.ts'
import type { Database } from '../../db/database.ts'
import type { WorkRow } from './claim-queries.ts'
import { findTransferMapping, saveTransferMapping } from './column-report-queries.ts'
import { Lost } from './endings.ts'
import { recordColumns } from './queries.ts'

/**
 * Stores the columns that changed since the last successful transfer. Columns that are added get entries in the mapping of the
 * connection and in that of the transfer, which was copied from it at the start: both or none. Throws `Lost` for a transfer that is
 * another worker's by now.
 * @returns the mapping of the transfer from now on; `null` if it did not change
 */
export async function reportColumns(
  database: Database,
  { id, attempt, connectionId }: WorkRow,
  { shape, changes, added }: ColumnReport,
): Promise<string | null> {
  const parameters = { id, attempt, connectionId, shape: JSON.stringify(shape), changes: JSON.stringify(changes) }
  if (added.length === 0) {
    await recordColumns.run(database, parameters)
    return null
  }
  return database.transaction(async (tx) => {
    // Locks the connection, and the transfer after it: nothing of what is read next changes until the commit.
    if ((await recordColumns.run(tx, parameters)) === 0) throw new Lost()
    const found = await findTransferMapping.first(tx, { id, attempt })
    const extended = found?.drift === 'add' ? extendMapping(found.mapping, added) : undefined
    if (!extended || extended.added.length === 0) return null
    await saveTransferMapping.run(tx, { id, attempt, mapping: extended.text })
    await addToMapping(tx, connectionId, extended.added, id)
    return extended.text
  }, serviceActor)
}
