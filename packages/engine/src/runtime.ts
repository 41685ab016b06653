import {
  type Connector,
  type ConnectorContext,
  ConnectorError,
  type EventStreams,
  insecureAddresses,
  type KeptSessions,
  type PlainHttp,
  type Rejects,
  type Uploads,
} from '@penstock/connector'
import type { OpenEgress } from '@penstock/connector/egress'
import { reach } from '@penstock/connectors/reach'
import type { Role } from '@penstock/wire'
import { withFixedAddresses } from './fixed-addresses.ts'
import type { IdentityHost, OpenedSide } from './protocol.ts'
import type { SecretSaver } from './secret-saver.ts'
import { sideSettings, withDefaults } from './settings.ts'
import { type SideSecrets, secretsOfSide } from './side-secrets.ts'

/** Runtime of every job: access to connectors, to the network, and to the folders that the operator allows. */
export type Runtime = {
  /** The connector with this slug, with the code that moves data. Throws if it does not exist. */
  loadConnector(slug: string): Promise<Connector>
  readonly egress: OpenEgress
  /** Hosts to which secrets can be sent without TLS. */
  readonly plainHttp: PlainHttp
  readonly localFolders: readonly string[]
  /** Of a part of a transfer. */
  readonly sessions?: KeptSessions
}

/** The runtime of one job, which can save secrets, get identity tokens, and read uploaded files, rejected records and events. */
export type JobRuntime = Runtime & {
  readonly secrets: SecretSaver
  readonly identityToken: IdentityHost['identityToken']
  readonly uploads: Uploads
  readonly rejects: Rejects
  readonly events: EventStreams
  /** Adds a line of a side's connector to the log; absent without a transfer. */
  readonly log?: (side: Role, text: string) => void
}

/**
 * The context of a connector, and the function that redacts its reports. Only the context contains secrets in the clear. Throws
 * the refusal of a side that cannot be opened. Throws `insecure_address` if secrets would be sent over
 * `http://` to a host that does not allow it: the address may have been allowed when it was saved.
 */
export function openContext(
  {
    egress,
    localFolders,
    plainHttp,
    secrets: saver,
    identityToken,
    uploads,
    rejects,
    events,
    log,
    sessions,
  }: JobRuntime,
  connector: Connector,
  role: Role | undefined,
  { slug, configurationId, secrets, settings, refusal }: OpenedSide,
  signal: AbortSignal,
): { readonly context: ConnectorContext; readonly redact: SideSecrets['redact'] } {
  const [insecure] = insecureAddresses(connector.secrets, secrets, plainHttp)
  if (insecure) {
    const { label = '' } = connector.secrets[insecure.key] ?? {}
    throw new ConnectorError('insecure_address', `${label} ${insecure.message}.`, { side: role ?? null })
  }
  if (refusal) throw new ConnectorError(refusal.code, refusal.message, { side: role ?? null })
  const { redact, watch, note } = secretsOfSide(connector, secrets)
  const values = withDefaults(connector.secrets, secrets)
  const ofSide = role ? sideSettings(connector, role, settings) : {}
  const context = {
    secrets: values,
    settings: ofSide,
    signal,
    egress: withFixedAddresses(watch(reach(egress, connector, values)), values, ofSide),
    localFolders,
    uploads,
    rejects,
    events,
    saveSecret: (key: string, renew: (current: string) => Promise<string>) =>
      saver.save({ connector, reference: { slug, configurationId, key }, signal, note }, renew),
    identityToken: async (audience: string) => {
      const token = await identityToken({ slug, configurationId, audience })
      note(token)
      return token
    },
    log: (text: string) => {
      if (role) log?.(role, redact(text))
    },
    ...(sessions && { sessions }),
  }
  return { context, redact }
}
