import type { Connector, ConnectorContext, Egress, Fields, Values } from '@penstock/connector'
import type { Role } from '@penstock/wire'
import { endFields } from '../connections/ends.ts'
import type { Catalogue } from '../connectors/catalogue.ts'
import type { Db } from '../db/database.ts'
import type { Keyring } from '../secrets/keyring.ts'
import { openSecrets } from '../secrets/secrets.ts'
import { findAddedSettings } from './queries.ts'

/** What a connector is handed: its opened secrets, the settings of its end, and the way out. */

/** What every connector of this process is given. */
export type Reach = { readonly egress: Egress; readonly localFolders: readonly string[] }

/** Opens what a connector works with. Secrets are in the clear from here on, in memory and in the connector's hands alone. */
export async function openContext(
  db: Db,
  { keyring, reach }: { keyring: Keyring; reach: Reach },
  connector: Connector,
  accountId: string,
  end: { role: Role; settings: Values } | undefined,
  signal: AbortSignal,
): Promise<ConnectorContext> {
  const owner = { accountId, connectorId: connector.id }
  const added = await findAddedSettings.first(db, owner)
  const secrets = { ...added?.settings, ...(await openSecrets(db, keyring, owner)) }
  return {
    secrets: withDefaults(connector.secrets, secrets),
    settings: end ? settingsOf(connector, end.role, end.settings) : {},
    signal,
    egress: reach.egress,
    localFolders: reach.localFolders,
  }
}

/** The settings of an end, defaults filled in. */
export const settingsOf = (connector: Connector, role: Role, settings: Values): Values =>
  withDefaults(endFields(connector, role), settings)

function withDefaults(fields: Fields, values: Values): Values {
  const defaults = Object.entries(fields).flatMap(([key, field]) =>
    field.default === undefined ? [] : [[key, field.default] as const],
  )
  return { ...Object.fromEntries(defaults), ...values }
}

/** The connector at each end of a connection, with the code that moves data. */
export function movingEnds(catalogue: Catalogue, row: { srcConnectorId: string; destConnectorId: string }) {
  const source = catalogue.known(row.srcConnectorId)
  const destination = catalogue.known(row.destConnectorId)
  const open = source.source?.open
  const deliver = destination.destination?.deliver
  if (!open || !deliver) throw new Error(`No data moves from ${source.slug} to ${destination.slug}`)
  return { source, destination, open, deliver }
}
