import type { Connector, ConnectorContext, Egress } from '@penstock/connector'
import type { Role } from '@penstock/wire'
import type { OpenedSide } from './protocol.ts'
import { sideSettings, withDefaults } from './settings.ts'
import { type SideSecrets, secretsOfSide } from './side-secrets.ts'

/** What every job runs on: the way to connectors, to the network, and to the folders that the operator allows. */
export type Runtime = {
  /** The connector with this slug, with the code that moves data. Throws where there is none. */
  loadConnector(slug: string): Promise<Connector>
  readonly egress: Egress
  readonly localFolders: readonly string[]
}

/**
 * What a connector is handed, and what removes its secrets from what it reports. Secrets are in the clear in the context,
 * and in the connector's hands alone.
 */
export function openContext(
  { egress, localFolders }: Runtime,
  connector: Connector,
  role: Role | undefined,
  { secrets, settings }: OpenedSide,
  signal: AbortSignal,
): { readonly context: ConnectorContext; readonly redact: SideSecrets['redact'] } {
  const { redact, watch } = secretsOfSide(connector, secrets)
  const context = {
    secrets: withDefaults(connector.secrets, secrets),
    settings: role ? sideSettings(connector, role, settings) : {},
    signal,
    egress: watch(egress),
    localFolders,
  }
  return { context, redact }
}
