import type { Connector, Values } from '@penstock/connector'
import type { OpenedSide } from '@penstock/engine'
import type { Catalogue } from '../connectors/catalogue.ts'
import type { Db } from '../db/database.ts'
import type { Keyring } from '../secrets/keyring.ts'
import { openSecrets } from '../secrets/secrets.ts'
import { findAddedSettings } from './queries.ts'

/** The two sides of a connection, as a runner gets them. */

/**
 * Opens what a connector works with. Secrets are in the clear from here on, on their way to a runner and in it alone.
 * @param settings the connection's settings of this side
 * @param frozen the saved configuration without secrets as it was when the transfer started; as it is now unless given
 */
export async function openSide(
  { database, keyring }: { database: Db; keyring: Keyring },
  connector: Connector,
  accountId: string,
  settings: Values = {},
  frozen?: Values,
): Promise<OpenedSide> {
  const owner = { accountId, connectorId: connector.id }
  const saved = frozen ?? (await findAddedSettings.first(database, owner))?.settings
  return { slug: connector.slug, secrets: { ...saved, ...(await openSecrets(database, keyring, owner)) }, settings }
}

/** The connectors of both sides, which must move data. */
export function movingSides(catalogue: Catalogue, row: { srcConnectorId: string; destConnectorId: string }) {
  const source = catalogue.known(row.srcConnectorId)
  const destination = catalogue.known(row.destConnectorId)
  const deliver = destination.destination?.deliver
  if (!source.source?.open || !deliver) throw new Error(`No data moves from ${source.slug} to ${destination.slug}`)
  return { source, destination, deliver }
}
