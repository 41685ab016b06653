import assert from 'node:assert/strict'
import type { Connector } from '@penstock/connector'
import { findConfiguration } from '../../packages/server/src/connectors/configuration.ts'
import type { Db } from '../../packages/server/src/db/database.ts'
import type { SecretOwner } from '../../packages/server/src/secrets/queries.ts'
import type { ConfiguredSide } from '../../packages/server/src/transfers/sides.ts'

/** The first configuration of an added connector, as its secrets are found. */
export async function firstConfiguration(
  db: Db,
  owner: { accountId: string; connectorId: string },
): Promise<SecretOwner> {
  const row = await findConfiguration(db, { ...owner, configurationId: null })
  assert(row, `${owner.connectorId} is not added to ${owner.accountId}`)
  return { ...owner, configurationId: row.configurationId }
}

/** The same, as a job works with it. */
export async function firstSide(db: Db, connector: Connector, accountId: string): Promise<ConfiguredSide> {
  const { configurationId } = await firstConfiguration(db, { accountId, connectorId: connector.id })
  return { connector, accountId, configurationId }
}
