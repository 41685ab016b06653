import { type Connector, movesIn, showFields, type Values } from '@penstock/connector'
import { kindOfPlatform } from '@penstock/connectors'
import {
  type AddedConnector,
  type ConfigurationGroup,
  type ConnectorConfiguration,
  type ConnectorWords,
  type Field,
  isSecretReference,
  type Role,
  type SavedConfiguration,
  type SavedValues,
  type SupportedConnector,
} from '@penstock/wire'
import { quoteEtag } from '../call.ts'
import { type InEnvironment, isEditable } from '../refusal.ts'
import { unixSeconds } from '../time.ts'
import { identity } from './catalogue.ts'
import type { AddedConnectorRow, ConfigurationRow, ListedConfigurationRow } from './queries.ts'
import { filledByApp } from './readiness.ts'

/** A connector as an entry of the list of added ones (specification, section 2.5). */
export const viewAdded = (connector: Connector, row: AddedConnectorRow, deps: InEnvironment): AddedConnector => ({
  ...identity(connector),
  configured: row.configured,
  description: connector.description,
  destConnections: row.destConnections,
  srcConnections: row.srcConnections,
  editable: isEditable(row, deps),
  env: row.env,
  transfer: connector.integrated,
})

/**
 * A connector that is compatible with another connector in a role. `row` is set if the sub-account has added it (specification,
 * section 2.5).
 */
export const viewSupported = (
  connector: Connector,
  role: Role,
  row: AddedConnectorRow | undefined,
): SupportedConnector => ({
  ...identity(connector),
  configured: row?.configured ?? false,
  description: connector.description,
  destConnections: row?.destConnections ?? 0,
  srcConnections: row?.srcConnections ?? 0,
  transfer: movesIn(connector, role),
})

/** The words for a connector. */
export const viewWords = ({ id, platform: { slug, name, alsoCalled = [] } }: Connector): ConnectorWords => ({
  connectorId: id,
  platform: name,
  kind: kindOfPlatform(slug) ?? null,
  alsoCalled: [...alsoCalled],
})

/** A reference to a secret is not secret. Of a secret, no value is there. */
function showReference(field: Field, values: Values): Field {
  const value = field.type === 'Password' ? values[field.name] : undefined
  return isSecretReference(value) ? { ...field, value } : field
}

/** Response of Configure Connector. */
export const viewSaved = (row: ConfigurationRow): SavedConfiguration => ({
  configurationId: row.configurationId,
  name: row.name,
  secretName: row.secretName,
  configured: row.configured,
  lastUpdated: row.savedTime ? unixSeconds(row.savedTime) : 0,
})

/** The version of a configuration. If a connector is removed and added again, the version changes. */
export const etagOf = ({ configurationId, version }: Pick<ConfigurationRow, 'configurationId' | 'version'>): string =>
  `${configurationId}-${version}`

/** Saved settings of an added connector, and the names of its secrets. */
export const viewSavedValues = (
  connector: Connector,
  row: ListedConfigurationRow,
  deps: InEnvironment,
): SavedValues => ({
  accountId: row.accountId,
  connectorId: row.connectorId,
  slug: connector.slug,
  ...viewSaved(row),
  first: row.first,
  settings: row.settings as SavedValues['settings'],
  secrets: row.secrets,
  references: row.references,
  authorized: row.oauthClientId !== null,
  editable: isEditable(row, deps),
  env: row.env,
  etag: quoteEtag(etagOf(row)),
})

/**
 * A connector's configuration (specification, section 2.6): one group of fields that the sub-account saves for all its
 * connections, and one group per role of fields that every connection sets itself.
 * @param values the values that are set; of a secret only whether it is set
 */
export function viewConfiguration(
  connector: Connector,
  row: ConfigurationRow,
  values: Values,
  deps: InEnvironment,
): ConnectorConfiguration {
  const saved = viewSaved(row)
  const sides = [
    { name: 'Source', side: connector.source },
    { name: 'Destination', side: connector.destination },
  ]
  const connectionConfig = sides.flatMap(({ name, side }): ConfigurationGroup[] =>
    side ? [{ ...saved, name, configuration: showFields(side.fields ?? {}, {}) }] : [],
  )
  const filled = filledByApp(connector, row)
  // Fields that the operator's app fills are not shown and never required.
  const configuration = showFields(connector.secrets, values).map((field) =>
    field.name in filled ? { ...field, required: false } : showReference(field, values),
  )
  return {
    secretConfig: [{ ...saved, configuration }],
    connectionConfig,
    editable: isEditable(row, deps),
    env: row.env,
    configured: saved.configured,
    lastUpdated: saved.lastUpdated,
    secretName: saved.secretName,
  }
}
