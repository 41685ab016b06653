import type { Authorization, Connector, Values } from '@penstock/connector'
import type { OpenedSide } from '@penstock/engine'
import type { Catalogue } from '../connectors/catalogue.ts'
import type { Db } from '../db/database.ts'
import type { Keyring } from '../secrets/keyring.ts'
import { openOAuthApp } from '../secrets/oauth-apps.ts'
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
  const { authorization } = connector
  const now = frozen && !authorization ? undefined : await findAddedSettings.first(database, owner)
  const secrets = await openSecrets(database, keyring, owner)
  const side = { slug: connector.slug, secrets: { ...(frozen ?? now?.settings), ...secrets }, settings }
  if (!authorization || !now) return side
  if (now.oauthClientId !== null) return withApp({ database, keyring }, side, authorization, now)
  // The client ID belongs to the secrets, which are read now, too.
  const clientId = now.settings[authorization.client.id]
  return clientId === undefined ? side : { ...side, secrets: { ...side.secrets, [authorization.client.id]: clientId } }
}

/**
 * Fills in the client of the operator's app, which is not saved with the connector. Where that is not there any more, or is
 * another one, the side says why it cannot be opened.
 */
async function withApp(
  { database, keyring }: { database: Db; keyring: Keyring },
  side: OpenedSide,
  { server, client }: Authorization,
  { env, oauthClientId }: { env: string; oauthClientId: string | null },
): Promise<OpenedSide> {
  const app = await openOAuthApp(database, keyring, { env, slug: server.slug })
  if (!app) {
    return {
      ...side,
      refusal: `The operator removed the app at ${server.name} that this connector was authorized with. Ask your operator to register it again (penstock oauth-app set ${server.slug}), or save a client and a token of your own in the connector.`,
    }
  }
  if (app.clientId !== oauthClientId) {
    return {
      ...side,
      refusal: `The operator registered another app at ${server.name} since this connector was authorized. Authorize the connector again.`,
    }
  }
  return { ...side, secrets: { ...side.secrets, [client.id]: app.clientId, [client.secret]: app.clientSecret } }
}

/** The connectors of both sides, which must move data. */
export function movingSides(catalogue: Catalogue, row: { srcConnectorId: string; destConnectorId: string }) {
  const source = catalogue.known(row.srcConnectorId)
  const destination = catalogue.known(row.destConnectorId)
  const deliver = destination.destination?.deliver
  if (!source.source?.open || !deliver) throw new Error(`No data moves from ${source.slug} to ${destination.slug}`)
  return { source, destination, deliver }
}
