import { isDeepStrictEqual } from 'node:util'
import { type Connector, changedIdentity, fieldsOfRole, type Values } from '@penstock/connector'
import type { Role } from '@penstock/wire'

/**
 * The data and the destination that the state of a connection describes, as the settings of both sides name it (docs/decisions/state-and-ranges.md). All values are
 * stored, without secrets, so that the definitions of the present version decide what a change means.
 */
export type DescribedSide = {
  readonly configurationId: string
  /** Of the configuration of the connector. */
  readonly saved: Values
  /** Of the connection. */
  readonly settings: Values
}
export type Described = { readonly source: DescribedSide; readonly destination: DescribedSide }

/** The settings of a connection, or of a transfer of it. */
type Settings = {
  readonly srcConfigurationId: string
  readonly destConfigurationId: string
  readonly srcConfig: Values
  readonly destConfig: Values
  readonly srcSettings: Values
  readonly destSettings: Values
}

export const describedBy = (row: Settings): Described => ({
  source: { configurationId: row.srcConfigurationId, saved: row.srcSettings, settings: row.srcConfig },
  destination: { configurationId: row.destConfigurationId, saved: row.destSettings, settings: row.destConfig },
})

export const isSameDescribed = (one: Described | null, other: Described): boolean => isDeepStrictEqual(one, other)

/** Labels of the settings of each side that name something else. */
export type OtherIdentity = { readonly source: readonly string[]; readonly destination: readonly string[] }

/**
 * Which settings name other data, or another place, than the state describes.
 * @returns `undefined` if the state stays valid; also if it is not known what it describes
 */
export function otherIdentity(
  connectors: { readonly source: Connector; readonly destination: Connector },
  before: Described | null,
  now: Described,
): OtherIdentity | undefined {
  if (!before) return undefined
  const source = changedLabels(connectors.source, 'Source', before.source, now.source)
  const destination = changedLabels(connectors.destination, 'Destination', before.destination, now.destination)
  return source.length + destination.length > 0 ? { source, destination } : undefined
}

function changedLabels(connector: Connector, role: Role, before: DescribedSide, now: DescribedSide): string[] {
  const fields = fieldsOfRole(connector, role)
  // The other end of a connection needs the others.
  const saved = Object.fromEntries(
    Object.entries(connector.secrets).filter(([, field]) => !field.role || field.role === role),
  )
  return [
    ...(before.configurationId === now.configurationId ? [] : ['Configuration']),
    ...changedIdentity(saved, before.saved, now.saved).map((key) => saved[key]?.label ?? key),
    ...changedIdentity(fields, before.settings, now.settings).map((key) => fields[key]?.label ?? key),
  ]
}

/** Why the source is read from its beginning, as the end of a sentence. */
export function inWords({ source, destination }: OtherIdentity): string {
  const ofSide = (labels: readonly string[], side: string) =>
    labels.length === 0 ? [] : [`${labels.map((label) => `"${label}"`).join(', ')} of the ${side}`]
  return `because the last transfer ran with other settings: ${[...ofSide(source, 'source'), ...ofSide(destination, 'destination')].join(', and ')}`
}
