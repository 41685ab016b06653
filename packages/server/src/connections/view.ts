import type {
  Connection,
  ConnectionConfig,
  ConnectionDetails,
  ConnectionEvent,
  ConnectionLabels,
  ConnectionWithSettings,
  UpdatedConnection,
} from '@penstock/wire'
import { isEnabled } from '@penstock/wire'
import { quoteEtag } from '../call.ts'
import type { Catalogue } from '../connectors/catalogue.ts'
import { type InEnvironment, isEditable } from '../refusal.ts'
import { unixSeconds } from '../time.ts'
import type { LabelsRow } from './label-queries.ts'
import type { DetailsRow } from './list-queries.ts'
import type { ConnectionEntryRow, ConnectionRow, EventRow } from './queries.ts'

type ViewDeps = InEnvironment & { readonly catalogue: Catalogue }

/** A connection as lists and most operations answer it (specification, section 2.8). */
export function viewConnection(row: ConnectionEntryRow, deps: ViewDeps): Connection {
  return {
    id: row.id,
    accountId: row.accountId,
    name: row.name,
    createdTime: unixSeconds(row.createdTime),
    updatedTime: unixSeconds(row.updatedTime),
    deleted: row.status === 'deleted',
    editable: isEditable(row, deps),
    enabled: isEnabled(row.status),
    env: row.env,
    status: row.status,
    monthlyVolume: row.monthlyVolume,
    totalVolume: row.totalVolume,
    usedVolume: row.usedVolume,
    src: viewSide(row.srcConnectorId, row.srcConfigured, deps.catalogue),
    dest: viewSide(row.destConnectorId, row.destConfigured, deps.catalogue),
  }
}

/** A connection with its parameters, as Get Connection Details answers it (section 4.4). */
export const viewConnectionDetails = (row: ConnectionRow, deps: ViewDeps): ConnectionDetails => ({
  ...viewConnection(row, deps),
  srcConfigurationId: row.srcConfigurationId,
  destConfigurationId: row.destConfigurationId,
  srcConnectionConfig: row.srcConfig as ConnectionConfig,
  destConnectionConfig: row.destConfig as ConnectionConfig,
})

/** The version of a connection. */
export const etagOf = ({ version }: Pick<ConnectionRow, 'version'>): string => String(version)

/** An entry of the list of connections with their settings. */
export const viewConnectionWithSettings = (
  row: ConnectionRow & LabelsRow & DetailsRow,
  deps: ViewDeps,
): ConnectionWithSettings => ({
  ...viewConnectionDetails(row, deps),
  drift: row.drift,
  rules: row.rules,
  blackout: row.blackout,
  runAfter: row.runAfter,
  group: row.group,
  tags: row.tags,
  owner: viewOwner(row),
  etag: quoteEtag(etagOf(row)),
})

/** Response of Update Connection. */
export const viewUpdatedConnection = (row: ConnectionRow): UpdatedConnection => ({
  id: row.id,
  name: row.name,
  srcConnectionConfig: row.srcConfig as ConnectionConfig,
  destConnectionConfig: row.destConfig as ConnectionConfig,
})

export const viewEvent = (row: EventRow): ConnectionEvent => ({
  id: row.id,
  connectionId: row.connectionId,
  time: unixSeconds(row.createdTime),
  kind: row.kind,
  from: row.was,
  to: row.became,
  changes: row.changes,
  actor: row.actorKind && { kind: row.actorKind, id: row.actorId, name: row.actorName },
})

/** A side of a connection. */
export function viewSide(connectorId: string, configured: boolean, catalogue: Catalogue): Connection['src'] {
  const connector = catalogue.known(connectorId)
  return { configured, connectorId, connectorLogo: catalogue.logo(connector), connectorName: connector.name }
}

/** The person who is responsible for a connection. */
const viewOwner = ({ ownerId, ownerName, ownerEmail }: LabelsRow): ConnectionLabels['owner'] =>
  ownerId === null || ownerEmail === null ? null : { id: ownerId, name: ownerName, email: ownerEmail }

/** Tags and owner of a connection. */
export const viewLabels = (row: LabelsRow): ConnectionLabels => ({
  connectionId: row.id,
  accountId: row.accountId,
  tags: row.tags,
  owner: viewOwner(row),
})
