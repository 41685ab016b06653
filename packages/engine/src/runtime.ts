import {
  type Connector,
  type ConnectorContext,
  ConnectorError,
  type Egress,
  insecureAddresses,
  type PlainHttp,
} from '@penstock/connector'
import type { Role } from '@penstock/wire'
import type { OpenedSide } from './protocol.ts'
import type { SecretSaver } from './secret-saver.ts'
import { sideSettings, withDefaults } from './settings.ts'
import { type SideSecrets, secretsOfSide } from './side-secrets.ts'

/** What every job runs on: the way to connectors, to the network, and to the folders that the operator allows. */
export type Runtime = {
  /** The connector with this slug, with the code that moves data. Throws where there is none. */
  loadConnector(slug: string): Promise<Connector>
  readonly egress: Egress
  /** Where secrets may go without TLS. */
  readonly plainHttp: PlainHttp
  readonly localFolders: readonly string[]
}

/** The runtime of one job, which can save secrets. */
export type JobRuntime = Runtime & { readonly secrets: SecretSaver }

/**
 * What a connector is handed, and what removes its secrets from what it reports. Secrets are in the clear in the context,
 * and in the connector's hands alone. Throws `invalid_credentials` with the refusal of a side that cannot be opened, and
 * `insecure_address` where secrets would go over `http://` to a host that they must not go to: what is saved could have been
 * allowed when it was saved.
 */
export function openContext(
  { egress, localFolders, plainHttp, secrets: saver }: JobRuntime,
  connector: Connector,
  role: Role | undefined,
  { slug, secrets, settings, refusal }: OpenedSide,
  signal: AbortSignal,
): { readonly context: ConnectorContext; readonly redact: SideSecrets['redact'] } {
  const [insecure] = insecureAddresses(connector.secrets, secrets, plainHttp)
  if (insecure) {
    const { label = '' } = connector.secrets[insecure.key] ?? {}
    throw new ConnectorError('insecure_address', `${label} ${insecure.message}.`, { side: role ?? null })
  }
  if (refusal !== undefined) throw new ConnectorError('invalid_credentials', refusal, { side: role ?? null })
  const { redact, watch, note } = secretsOfSide(connector, secrets)
  const context = {
    secrets: withDefaults(connector.secrets, secrets),
    settings: role ? sideSettings(connector, role, settings) : {},
    signal,
    egress: watch(egress),
    localFolders,
    saveSecret: (key: string, renew: (current: string) => Promise<string>) =>
      saver.save({ connector, reference: { slug, key }, signal, note }, renew),
  }
  return { context, redact }
}
