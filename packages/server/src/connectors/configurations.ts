import type { Answer, Call } from '../call.ts'
import type { ConnectorDeps } from './connectors.ts'
import * as queries from './queries.ts'
import { viewSavedValues } from './view.ts'

/** The configurations of one sub-account, or of all that the actor may see, each without its secrets. */
export async function listConnectorConfigurations(
  { db, actor, account, query: { size, offset } }: Call<'listConnectorConfigurations'>,
  deps: ConnectorDeps,
): Promise<Answer<'listConnectorConfigurations'>> {
  const { organizationId, accountIds } = actor
  const filter = { organizationId, accountIds: account ? [account.id] : accountIds }
  const [rows, count] = await Promise.all([
    queries.listConfigurations.all(db, { ...filter, size, offset }),
    queries.countConfigurations.first(db, filter),
  ])
  return {
    reply: rows.map((row) => viewSavedValues(deps.catalogue.known(row.connectorId), row, deps)),
    total: count?.total ?? 0,
  }
}
