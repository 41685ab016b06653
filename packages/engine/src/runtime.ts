import type { Connector, ConnectorContext, Egress } from '@penstock/connector'
import type { Role } from '@penstock/wire'
import type { OpenedSide } from './protocol.ts'
import { sideSettings, withDefaults } from './settings.ts'

/** What every job runs on: the way to connectors, to the network, and to the folders that the operator allows. */
export type Runtime = {
  /** The connector with this slug, with the code that moves data. Throws where there is none. */
  loadConnector(slug: string): Promise<Connector>
  readonly egress: Egress
  readonly localFolders: readonly string[]
}

/** What a connector is handed. Secrets are in the clear in it, and in the connector's hands alone. */
export function openContext(
  { egress, localFolders }: Runtime,
  connector: Connector,
  role: Role | undefined,
  { secrets, settings }: OpenedSide,
  signal: AbortSignal,
): ConnectorContext {
  return {
    secrets: withDefaults(connector.secrets, secrets),
    settings: role ? sideSettings(connector, role, settings) : {},
    signal,
    egress,
    localFolders,
  }
}
