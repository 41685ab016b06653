import type { Database } from '../db/database.ts'
import type { Catalogue } from './catalogue.ts'
import { unknownConnectors } from './queries.ts'

const namedMax = 10

/**
 * One sentence that names the connectors in the database that this version does not know, as after a downgrade. Undefined
 * where all are known. Without their definitions nothing true can be said of them.
 */
export async function findUnknownConnectors(
  database: Database,
  { all }: Pick<Catalogue, 'all'>,
): Promise<string | undefined> {
  const rows = await unknownConnectors.all(database, { known: all.map(({ id }) => id) })
  if (rows.length === 0) return undefined
  const named = rows
    .slice(0, namedMax)
    .map(
      ({ connectorId, accounts, connections }) => `${connectorId} (accounts: ${accounts}, connections: ${connections})`,
    )
  if (rows.length > namedMax) named.push(`and ${rows.length - namedMax} more`)
  return `The database holds connectors that this version of Penstock does not know: ${named.join(', ')}. Run the version that they were added with, or a newer one; if an operator added them, add them here, too (penstock connector add).`
}
