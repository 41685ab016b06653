import { type Authorization, type Connector, ConnectorError, changedBindings, type Values } from '@penstock/connector'
import { type OpenedSide, sideSettings } from '@penstock/engine'
import type { Role } from '@penstock/wire'
import type { Catalogue } from '../connectors/catalogue.ts'
import type { Db } from '../db/database.ts'
import { openSecretsForJob, type SecretsDeps, type SecretUse } from '../secret-managers/open-secrets.ts'
import type { Keyring } from '../secrets/keyring.ts'
import { openOAuthApp } from '../secrets/oauth-apps.ts'
import type { SecretOwner } from '../secrets/queries.ts'
import { findSettings } from './queries.ts'

/** The two sides of a connection, as a runner gets them. */

/**
 * The configuration that a side of a transfer keeps: saved values without secrets, as they were when it started, or when it took the
 * present ones because nothing had moved.
 */
export type FrozenSide = { readonly role: Role; settings: Values }

/** A configuration of a connector, as a job works with it. */
export type ConfiguredSide = {
  readonly connector: Connector
  readonly accountId: string
  readonly configurationId: string
  /** The part of the configuration that the transfer keeps; without it, the configuration is read as it is now. */
  readonly frozen?: FrozenSide
}

type SidesRow = {
  readonly accountId: string
  readonly srcConnectorId: string
  readonly destConnectorId: string
  readonly srcConfigurationId: string
  readonly destConfigurationId: string
}

/** The configurations of both sides of a connection. */
export function configuredSides(
  { known }: Pick<Catalogue, 'known'>,
  row: SidesRow,
): { source: ConfiguredSide; destination: ConfiguredSide } {
  const { accountId } = row
  return {
    source: { connector: known(row.srcConnectorId), accountId, configurationId: row.srcConfigurationId },
    destination: { connector: known(row.destConnectorId), accountId, configurationId: row.destConfigurationId },
  }
}

/** The configurations of both sides of a transfer, with what it keeps of them. */
export type FrozenSides = Readonly<Record<'source' | 'destination', ConfiguredSide & { readonly frozen: FrozenSide }>>

/** The same of a transfer, with what it keeps of both configurations. */
export function frozenSides(
  catalogue: Pick<Catalogue, 'known'>,
  row: SidesRow & { readonly srcSettings: Values; readonly destSettings: Values },
): FrozenSides {
  const { source, destination } = configuredSides(catalogue, row)
  return {
    source: { ...source, frozen: { role: 'Source', settings: row.srcSettings } },
    destination: { ...destination, frozen: { role: 'Destination', settings: row.destSettings } },
  }
}

const ownerOf = ({ connector, accountId, configurationId }: ConfiguredSide): SecretOwner => ({
  accountId,
  connectorId: connector.id,
  configurationId,
})

/**
 * Opens what a connector works with. Secrets are in the clear from here on, on their way to a runner and in it alone.
 * @param use the job that needs them
 * @param settings the connection's settings of this side
 * @param entered references that are entered and not saved, by the names of their secrets
 * @throws ConnectorError as {@link requireSameDestination} does
 */
export async function openSide(
  deps: SecretsDeps,
  configured: ConfiguredSide,
  use: SecretUse,
  settings: Values = {},
  entered?: Readonly<Record<string, string>>,
): Promise<OpenedSide> {
  const { database, keyring } = deps
  const { connector, configurationId, frozen } = configured
  const owner = ownerOf(configured)
  const { authorization } = connector
  const now = frozen && !authorization ? undefined : await findSettings.first(database, owner)
  const { values: secrets, refusal } = await openSecretsForJob(deps, owner, use, entered)
  await requireSameDestination(database, configured)
  const values = { ...(frozen?.settings ?? now?.settings), ...secrets }
  const side = { slug: connector.slug, configurationId, secrets: values, settings, ...(refusal && { refusal }) }
  if (!authorization || !now) return side
  if (now.oauthClientId !== null) return withApp({ database, keyring }, side, authorization, now)
  // The client ID belongs to the secrets, which are read now, too.
  const clientId = now.settings[authorization.client.id]
  return clientId === undefined ? side : { ...side, secrets: { ...side.secrets, [authorization.client.id]: clientId } }
}

/**
 * Keeps a secret that was saved since a transfer started from the host that the transfer started with: throws
 * `settings_changed` if another one is configured by now. Ask after the secret was read: whatever is saved in between is found.
 */
export async function requireSameDestination(db: Db, side: ConfiguredSide): Promise<void> {
  if (!side.frozen) return
  const { role, settings } = side.frozen
  const { name, secrets: fields } = side.connector
  if (Object.values(fields).every(({ binds = [] }) => binds.length === 0)) return
  const now = await findSettings.first(db, ownerOf(side))
  const changed = changedBindings(fields, settings, now?.settings ?? {})
  if (changed.length === 0) return
  const labels = changed.map((key) => fields[key]?.label).join(', ')
  const message = `${name} was configured for another destination after this transfer started (${labels}), and the secret of the new one is not sent to the old one. Start a new transfer.`
  throw new ConnectorError('settings_changed', message, { side: role })
}

/**
 * Fills in the client of the operator's app, which is not saved with the connector. If the app no longer exists, or has
 * changed, the side contains the reason why it cannot be opened.
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
      refusal: refusedApp(
        `The operator removed the app at ${server.name} that this connector was authorized with. Ask your operator to register it again with the command \`oauth-app set ${server.slug}\` of Penstock, or save a client and a token of your own in the connector.`,
      ),
    }
  }
  if (app.clientId !== oauthClientId) {
    return {
      ...side,
      refusal: refusedApp(
        `The operator registered another app at ${server.name} since this connector was authorized. Authorize the connector again.`,
      ),
    }
  }
  return { ...side, secrets: { ...side.secrets, [client.id]: app.clientId, [client.secret]: app.clientSecret } }
}

const refusedApp = (message: string) => ({ code: 'invalid_credentials', message }) as const

/** The connectors of both sides, which must move data. */
export function movingSides(catalogue: Catalogue, row: { srcConnectorId: string; destConnectorId: string }) {
  const source = catalogue.known(row.srcConnectorId)
  const destination = catalogue.known(row.destConnectorId)
  const deliver = destination.destination?.deliver
  if (!source.source?.open || !deliver) throw new Error(`No data moves from ${source.slug} to ${destination.slug}`)
  return { source, destination, deliver }
}

/** Whether the destination replaces everything that it has with what a transfer with these settings sends. */
export function replacesAll(
  catalogue: Catalogue,
  { destConnectorId, destConfig }: { destConnectorId: string; destConfig: Values },
): boolean {
  const destination = catalogue.known(destConnectorId)
  const settings = sideSettings(destination, 'Destination', destConfig)
  return destination.destination?.deliver?.replaces?.(settings) ?? false
}
