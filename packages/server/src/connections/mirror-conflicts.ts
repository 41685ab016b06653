import type { Values } from '@penstock/connector'
import { mirrorsRows } from '@penstock/engine'
import type { Catalogue } from '../connectors/catalogue.ts'
import type { Transaction } from '../db/database.ts'
import { refuse } from '../refusal.ts'
import { findMirror, holdMirrors } from './mirror-queries.ts'
import { outcomesErrors } from './outcomes.ts'
import { purposeErrors } from './purposes.ts'
import type { ConnectionRow } from './queries.ts'
import { requireReady } from './sides.ts'

/** Two mirrors into one table would remove each other's rows with common keys (docs/decisions/rows-to-send.md). */

/** Settings of destinations that name a table. */
const places = ['database', 'catalog', 'dataset', 'schema', 'table']

/** Refuses with `connection_not_ready` what keeps a connection from moving data. */
export async function requireActivatable(
  tx: Transaction,
  catalogue: Catalogue,
  connection: Parameters<typeof requireReady>[2] & Parameters<typeof requireOwnMirror>[1],
): Promise<void> {
  await requireReady(tx, catalogue, connection)
  const consentErrors = await purposeErrors(tx, connection.accountId, connection.destConfig)
  if (consentErrors.length > 0) refuse('connection_not_ready', consentErrors)
  const outcomeErrors = await outcomesErrors(tx, connection)
  if (outcomeErrors.length > 0) refuse('connection_not_ready', outcomeErrors)
  await requireOwnMirror(tx, connection)
}

/** Refuses with `connection_not_ready` a mirror into a table that another mirror of the sub-account writes to. */
async function requireOwnMirror(
  tx: Transaction,
  connection: Pick<ConnectionRow, 'id' | 'accountId' | 'destConnectorId' | 'destConfigurationId' | 'destConfig'>,
): Promise<void> {
  const { id, accountId, destConnectorId, destConfigurationId, destConfig } = connection
  if (!mirrorsRows(destConfig)) return
  const place = placeOf(destConfig)
  await holdMirrors.run(tx, { accountId })
  const others = await findMirror.all(tx, { id, accountId, destConnectorId, destConfigurationId })
  const other = others.find((one) => placeOf(one.destConfig) === place)
  if (!other) return
  const message = `another mirror, ${other.name} (${other.id}), writes to the same table: each would remove the rows of the other. Choose another table, or send new and changed rows`
  refuse('connection_not_ready', [{ field: 'destConnectionConfig.sendRows', message }])
}

/** The table that settings name, without quotes and letter case, and without the schema that is the default one. */
function placeOf(settings: Values): string {
  const names = places.flatMap((name) => String(settings[name] ?? '').split('.'))
  const plain = names.map((name) => name.replace(/["`[\]\s]/g, '').toLowerCase())
  return plain.filter((name) => name !== '' && name !== 'public').join('.')
}
