import { record, serviceActor } from '../audit/record.ts'
import type { Database } from '../db/database.ts'
import { deleteDataKeys } from '../secrets/queries.ts'
import { purgeUploads } from './queries.ts'

/** Files per statement. Each file has some hundred pieces. */
const batchRows = 10

/**
 * Deletes expired files with their content and keys, and the remains of interrupted uploads. Any number of processes can do so
 * concurrently.
 * @returns the number of deleted files
 */
export async function purgeExpiredUploads(database: Database, signal?: AbortSignal): Promise<number> {
  let removed = 0
  for (let batch = batchRows; batch === batchRows && !signal?.aborted; removed += batch) {
    batch = await database.transaction(async (tx) => {
      const rows = await purgeUploads.all(tx, { limit: batchRows })
      if (rows.length === 0) return 0
      await deleteDataKeys.run(tx, { ids: rows.map(({ dataKeyId }) => dataKeyId) })
      const seen = rows.filter(({ complete }) => complete)
      record(
        tx,
        ...seen.map(({ id, organizationId, accountId, name }) => ({
          organizationId,
          actor: serviceActor,
          action: 'purgeUpload',
          accountId,
          targetId: id,
          before: { name },
        })),
      )
      return rows.length
    })
  }
  return removed
}
