import { example } from './examples.ts'
import { limits } from './limits.ts'
import { operation } from './operation.ts'
import { accountIds, connectionIds, days, filter, optionalId, page, q, status, yes } from './parameters.ts'
import {
  Account,
  AccountEntry,
  AccountReport,
  AddAccount,
  AddConnectors,
  AddedConnector,
  AttentionEntry,
  AuthorizationLink,
  CatalogueEntry,
  CheckResult,
  Configure,
  Connection,
  ConnectionDetails,
  ConnectionEvent,
  ConnectionReport,
  Connector,
  ConnectorAuthorization,
  ConnectorConfiguration,
  ConnectorDefinition,
  CreateConnection,
  Credentials,
  EditAccount,
  Preview,
  PreviewConnection,
  Reject,
  Replayable,
  ReplayTransfer,
  SavedConfiguration,
  Schedule,
  SetSchedule,
  StartTransfer,
  StatusUpdate,
  SupportedConnector,
  Token,
  Transfer,
  UpdateConnection,
  UpdatedConnection,
} from './schemas.ts'
import { attentionReasons, dataTypeCategories, dataTypes, platformTypes, roles, transferStatuses } from './terms.ts'
import { type Static, type TObject, type TSchema, Type } from './type.ts'

const startedTransfer = {
  status: 'queued',
  startedTime: null,
  finishedTime: null,
  bytes: 0,
  progress: null,
  attempt: 0,
  error: null,
  records: { read: 0, sent: 0, accepted: 0, rejected: 0 },
} as const

/**
 * The whole interface on one page, in the order of the specification's section 4.
 * Server, client, OpenAPI document and tests derive from this table; a path or a status is defined nowhere else.
 */
export const operations = {
  // 4.1 Token
  createToken: operation({
    method: 'POST',
    path: '/oauth/client-token',
    tag: 'Token',
    summary: 'Get an access token',
    description:
      'Exchanges client credentials for a bearer token. The token is valid for `expiry` seconds. Request a new one before it expires. This is the only response without an envelope.',
    scope: 'public',
    body: Credentials,
    reply: Token,
    bare: true,
    done: 'Token issued',
    refusals: ['invalid_client', 'rate_limited'],
  }),

  // 4.2 Connectors
  listConnectors: operation({
    method: 'GET',
    path: '/connectors',
    tag: 'Connectors',
    summary: 'List the connector catalogue',
    description:
      'Lists the connectors that a sub-account can add, sorted by name. The catalogue is the same for every sub-account.',
    scope: 'account',
    query: {
      q: Type.Optional(q),
      dataType: filter(dataTypes, 'Kind of data'),
      dataTypeCategory: filter(dataTypeCategories, 'Category of the data type'),
      platformType: filter(platformTypes, 'Kind of platform'),
      supportedType: filter(roles, 'Keeps connectors that can play this role'),
      ...page,
    },
    reply: CatalogueEntry,
    list: 'paged',
    done: 'Connectors listed',
  }),
  addConnectors: operation({
    method: 'POST',
    path: '/connectors',
    tag: 'Connectors',
    summary: 'Add connectors to a sub-account',
    description:
      'Adds all given connectors or none. One unknown identifier refuses the whole call. Adding a connector again changes nothing.',
    scope: 'account',
    body: AddConnectors,
    reply: AddedConnector,
    list: 'whole',
    done: 'Connectors added',
    shows: { configured: false, destConnections: 0 },
  }),
  listAddedConnectors: operation({
    method: 'GET',
    path: '/connectors/added',
    tag: 'Connectors',
    summary: 'List the connectors added to a sub-account',
    description:
      'Lists the connectors of the sub-account, newest first, each with the number of connections that use it.',
    scope: 'account',
    query: { q: Type.Optional(q), configured: yes('Keeps those that are, or are not, configured'), ...page },
    reply: AddedConnector,
    list: 'paged',
    done: 'Added connectors listed',
  }),
  listSupportedConnectors: operation({
    method: 'GET',
    path: '/connectors/supported',
    tag: 'Connectors',
    summary: 'List the connectors that are compatible with a source or a destination',
    description:
      'Lists the connectors of the catalogue that can be paired with the given one, sorted by name. Roles and categories must be compatible.',
    scope: 'account',
    query: {
      srcConnectorId: optionalId('The source to list compatible destinations for', example.source.connectorId),
      destConnectorId: optionalId('The destination to list compatible sources for', example.destination.connectorId),
      added: yes('Keeps those that are, or are not, added to the sub-account'),
    },
    exactlyOne: ['srcConnectorId', 'destConnectorId'],
    reply: SupportedConnector,
    list: 'whole',
    done: 'Supported connectors listed',
  }),
  getConnector: operation({
    method: 'GET',
    path: '/connectors/{id}',
    tag: 'Connectors',
    summary: 'Get a connector',
    description: 'Returns a connector of the catalogue, added to the sub-account or not.',
    scope: 'account',
    reply: Connector,
    done: 'Connector found',
    concurrency: 'etag',
  }),
  getConnectorConfiguration: operation({
    method: 'GET',
    path: '/connectors/{id}/configuration',
    tag: 'Connectors',
    summary: 'Get a connector’s configuration',
    description:
      'Returns the fields of the connector with their current values. A secret is never returned: its value is empty if it is not set, and `********` if it is.',
    scope: 'account',
    reply: ConnectorConfiguration,
    done: 'Configuration found',
    concurrency: 'etag',
    refusals: ['connector_not_added'],
  }),
  getConnectorDefinition: operation({
    method: 'GET',
    path: '/connectors/{id}/definition',
    tag: 'Connectors',
    summary: 'Get a connector’s definition',
    description:
      'Returns what a form and a mapping need to know about a connector of the catalogue: its fields with their conditions, and the fields of its records. The definition is the same for every sub-account and contains no values.',
    scope: 'organization',
    reply: ConnectorDefinition,
    done: 'Definition found',
  }),
  configureConnector: operation({
    method: 'PUT',
    path: '/connectors/{id}/configuration',
    tag: 'Connectors',
    summary: 'Configure a connector',
    description:
      'Saves configuration values. Given keys replace the saved values, omitted keys are kept, `null` clears a value, and `********` keeps the saved secret. If a required field would be missing after the change, or a field that an active connection requires, nothing is saved.',
    scope: 'account',
    body: Configure,
    reply: SavedConfiguration,
    done: 'Configuration saved',
    concurrency: 'if-match',
    refusals: ['connection_not_ready', 'connector_not_added', 'not_editable'],
  }),
  getConnectorAuthorization: operation({
    method: 'GET',
    path: '/connectors/{id}/authorization',
    tag: 'Connectors',
    summary: 'Get whether a connector is authorized',
    description:
      'Returns whether a user of the platform can grant the connector access with a click, in place of credentials that you enter, and whether the connector works with such a grant now.',
    scope: 'account',
    reply: ConnectorAuthorization,
    done: 'Authorization found',
    refusals: ['connector_not_added'],
  }),
  authorizeConnector: operation({
    method: 'POST',
    path: '/connectors/{id}/authorization',
    tag: 'Connectors',
    summary: 'Authorize a connector with a click',
    description: `Returns a link that can be opened once. Send the browser of a person who may grant access on the platform there within ${limits.authorizationMinutes} minutes. The person consents on the platform and comes back to a page that says what happened. What was granted is sealed and saved as if you had configured the connector with it.`,
    scope: 'account',
    reply: AuthorizationLink,
    success: 201,
    unrepeatable: true,
    done: 'Authorization started',
    refusals: ['authorization_not_available', 'authorization_not_supported', 'connector_not_added', 'not_editable'],
  }),
  removeConnector: operation({
    method: 'DELETE',
    path: '/connectors/{id}',
    tag: 'Connectors',
    summary: 'Remove a connector from a sub-account',
    description:
      'Removes a connector from the sub-account and deletes its secrets. Refused while a connection that is not deleted uses the connector. `If-Match` takes the ETag of its configuration, not that of its entry in the catalogue.',
    scope: 'account',
    reply: AddedConnector,
    done: 'Connector removed',
    concurrency: 'if-match',
    refusals: ['connector_in_use', 'connector_not_added', 'not_editable'],
    shows: { destConnections: 0 },
  }),
  checkConnector: operation({
    method: 'POST',
    path: '/connectors/{id}/check',
    tag: 'Connectors',
    summary: 'Check a connector against its platform',
    description: 'Tests the saved configuration: connectivity, authentication and permissions. Changes nothing.',
    reads: true,
    scope: 'account',
    reply: CheckResult,
    done: 'Connector checked',
    refusals: ['check_not_supported', 'connector_not_added', 'connector_not_configured'],
  }),

  // 4.3 Accounts
  getAccount: operation({
    method: 'GET',
    path: '/accounts/{id}',
    tag: 'Accounts',
    summary: 'Get a sub-account',
    description: 'Returns a sub-account of the organization.',
    scope: 'organization',
    reply: Account,
    done: 'Account found',
    concurrency: 'etag',
  }),
  listAccounts: operation({
    method: 'GET',
    path: '/accounts',
    tag: 'Accounts',
    summary: 'List the sub-accounts',
    description: 'Lists the sub-accounts of the organization, newest first.',
    scope: 'organization',
    query: { q: Type.Optional(q), ...page },
    reply: AccountEntry,
    list: 'paged',
    done: 'Accounts listed',
  }),
  addAccount: operation({
    method: 'POST',
    path: '/accounts',
    tag: 'Accounts',
    summary: 'Add a sub-account',
    description: 'Creates a sub-account. It is enabled by default.',
    scope: 'organization',
    body: AddAccount,
    reply: Account,
    success: 201,
    done: 'Account created',
    refusals: ['quota_exceeded'],
    shows: { connections: '0', updatedTime: example.createdTime, volume: 0 },
  }),
  editAccount: operation({
    method: 'PUT',
    path: '/accounts/{id}',
    tag: 'Accounts',
    summary: 'Edit a sub-account',
    description:
      'Changes the name of a sub-account, whether it is enabled, or both. No transfer starts in a disabled sub-account. Everything else is still possible.',
    scope: 'organization',
    body: EditAccount,
    reply: Account,
    done: 'Account changed',
    concurrency: 'if-match',
    refusals: ['not_editable'],
  }),
  deleteAccount: operation({
    method: 'DELETE',
    path: '/accounts/{id}',
    tag: 'Accounts',
    summary: 'Delete a sub-account and everything in it',
    description:
      'Deletes a sub-account with its connectors and connections immediately. Your operator can restore it for 30 days.',
    scope: 'organization',
    reply: Account,
    done: 'Account deleted',
    concurrency: 'if-match',
    refusals: ['not_editable'],
  }),

  // 4.4 Connections
  listConnections: operation({
    method: 'GET',
    path: '/connections',
    tag: 'Connections',
    summary: 'List connections',
    description:
      'Lists connections, newest first: those of one sub-account, or of all sub-accounts if `accountId` is omitted. Deleted connections are listed for 30 days, while they can be restored.',
    scope: 'organization or account',
    query: { q: Type.Optional(q), status, ...page },
    reply: Connection,
    list: 'paged',
    done: 'Connections listed',
  }),
  createConnection: operation({
    method: 'POST',
    path: '/connections',
    tag: 'Connections',
    summary: 'Create a connection',
    description:
      'Pairs a source with a destination. Both must be added to the sub-account and compatible. They cannot be changed afterwards. A new connection is `In-progress` until you activate it.',
    scope: 'account',
    body: CreateConnection,
    reply: Connection,
    success: 201,
    done: 'Connection created',
    refusals: ['connector_not_added', 'quota_exceeded', 'connectors_incompatible'],
    shows: {
      status: 'In-progress',
      updatedTime: example.createdTime,
      monthlyVolume: 0,
      totalVolume: 0,
      usedVolume: 0,
    },
  }),
  updateConnection: operation({
    method: 'PUT',
    path: '/connections/{id}',
    tag: 'Connections',
    summary: 'Change a connection’s name and settings',
    description:
      'Changes the name, the settings of the source or the destination, or all of them. Given settings replace the saved ones completely.',
    scope: 'account',
    body: UpdateConnection,
    reply: UpdatedConnection,
    done: 'Connection changed',
    concurrency: 'if-match',
    refusals: ['connection_deleted', 'connection_not_ready', 'connector_immutable', 'not_editable'],
  }),
  updateConnectionStatus: operation({
    method: 'PUT',
    path: '/connections/{id}/status',
    tag: 'Connections',
    summary: 'Activate, enable or disable a connection',
    description:
      '`activate` makes a connection ready to carry data, once its source and destination are configured and complete. `disable` stops it, and `enable` brings it back to the status it was disabled from. Repeating an action changes nothing.',
    scope: 'account',
    body: StatusUpdate,
    reply: Connection,
    done: 'Connection status updated',
    concurrency: 'if-match',
    refusals: ['connection_deleted', 'connection_not_ready', 'not_editable'],
  }),
  deleteConnection: operation({
    method: 'DELETE',
    path: '/connections/{id}',
    tag: 'Connections',
    summary: 'Delete a connection; it can be restored for 30 days',
    description:
      'Stops the connection and marks it as deleted. You can restore it for 30 days. After that, it is removed permanently.',
    scope: 'account',
    reply: Connection,
    done: 'Connection deleted',
    concurrency: 'if-match',
    refusals: ['connection_deleted', 'not_editable'],
    shows: { status: 'deleted', deleted: true, enabled: false },
  }),
  restoreConnection: operation({
    method: 'POST',
    path: '/connections/{id}/restore',
    tag: 'Connections',
    summary: 'Restore a deleted connection',
    description:
      'Restores a deleted connection as `disabled`, within 30 days of its deletion. Enable it to return to the status it had when it was deleted.',
    scope: 'account',
    reply: Connection,
    done: 'Connection restored',
    concurrency: 'if-match',
    refusals: ['connection_not_deleted', 'connector_not_added', 'not_editable'],
    shows: { status: 'disabled', enabled: false },
  }),
  getConnection: operation({
    method: 'GET',
    path: '/connections/{id}',
    tag: 'Connections',
    summary: 'Get a connection',
    description: 'Returns a connection with the configuration and settings of its source and its destination.',
    scope: 'account',
    reply: ConnectionDetails,
    done: 'Connection found',
    concurrency: 'etag',
  }),

  listConnectionEvents: operation({
    method: 'GET',
    path: '/connections/{id}/events',
    tag: 'Connections',
    summary: 'List the events of a connection',
    description: `Lists the history of a connection, newest first: when it was made, renamed, moved to another status, and had its settings or its schedule changed. The newest ${limits.connectionEventsMax} events are kept.`,
    scope: 'account',
    query: { ...page },
    reply: ConnectionEvent,
    list: 'paged',
    done: 'Events listed',
  }),

  listAttention: operation({
    method: 'GET',
    path: '/attention',
    tag: 'Connections',
    summary: 'List the connections that need attention',
    description:
      'Lists connections that are broken or offline, whose newest transfer failed, rejected records or is tried again after an error, or of which a side is not configured: of one sub-account, or of all sub-accounts where `accountId` is left out. The worst reason comes first, then the newest connection. Disabled and deleted connections are left out.',
    scope: 'organization or account',
    query: { reason: filter(attentionReasons, 'Keeps connections with this reason'), ...page },
    reply: AttentionEntry,
    list: 'paged',
    done: 'Connections that need attention listed',
    shows: {
      status: 'broken',
      reasons: ['broken', 'transfer_failed'],
      notConfigured: [],
      lastTransfer: {
        id: example.transferId,
        status: 'failed',
        finishedTime: example.createdTime + 95,
        records: { read: 0, sent: 0, accepted: 0, rejected: 0 },
        error: {
          code: 'invalid_credentials',
          message: 'Meta refused the access token: save a new one.',
          side: 'destination',
          connectorId: example.destination.connectorId,
        },
      },
    },
  }),

  // Transfers (ours)
  listAllTransfers: operation({
    method: 'GET',
    path: '/transfers',
    tag: 'Transfers',
    summary: 'List transfers',
    description:
      'Lists the transfers of all connections, newest first: of one sub-account, or of all sub-accounts if `accountId` is omitted. With `latest` and a `status`, it lists the connections whose newest transfer has this status.',
    scope: 'organization or account',
    query: {
      status: filter(transferStatuses, 'Keeps transfers with this status'),
      latest: yes('If true, lists only the newest transfer of each connection. A status filter then applies to these'),
      connectionIds,
      ...page,
    },
    reply: Transfer,
    list: 'paged',
    done: 'Transfers listed',
  }),
  previewConnection: operation({
    method: 'POST',
    path: '/connections/{id}/preview',
    tag: 'Transfers',
    summary: 'Preview a transfer',
    description:
      'Reads up to 100 records and maps them to the fields of the destination. Sends nothing. Returns the records with shortened identifiers, statistics for each field, and `findings`: problems at the destination that would make a transfer fail or reject records. With `unmapped`, it returns the columns of the source.',
    reads: true,
    scope: 'account',
    body: PreviewConnection,
    reply: Preview,
    done: 'Connection previewed',
    refusals: ['connection_deleted', 'connection_not_ready', 'transfer_not_supported', 'platform_refused'],
  }),
  startTransfer: operation({
    method: 'POST',
    path: '/connections/{id}/transfers',
    tag: 'Transfers',
    summary: 'Start a transfer',
    description:
      'Starts a transfer of an active connection in the background. Given settings apply to this transfer only. If a transfer of the connection is already active, it is returned and no second one is started.',
    scope: 'account',
    body: StartTransfer,
    reply: Transfer,
    success: 202,
    done: 'Transfer started',
    already: 'A transfer of this connection is already active',
    refusals: ['account_disabled', 'connection_not_active', 'transfer_not_supported'],
    shows: startedTransfer,
  }),
  listTransfers: operation({
    method: 'GET',
    path: '/connections/{id}/transfers',
    tag: 'Transfers',
    summary: 'List the transfers of a connection',
    description: 'Lists the transfers of a connection, newest first.',
    scope: 'account',
    query: { status: filter(transferStatuses, 'Keeps transfers with this status'), ...page },
    reply: Transfer,
    list: 'paged',
    done: 'Transfers listed',
  }),
  getTransfer: operation({
    method: 'GET',
    path: '/connections/{id}/transfers/{transferId}',
    tag: 'Transfers',
    summary: 'Get a transfer',
    description: 'Returns a transfer: its status, its progress and its record counts.',
    scope: 'account',
    reply: Transfer,
    done: 'Transfer found',
  }),
  cancelTransfer: operation({
    method: 'POST',
    path: '/connections/{id}/transfers/{transferId}/cancel',
    tag: 'Transfers',
    summary: 'Cancel a transfer',
    description:
      'Stops a transfer. Records that the destination confirmed stay there and are counted. The rest is not sent. Cancelling again changes nothing.',
    scope: 'account',
    reply: Transfer,
    done: 'Transfer cancelled',
    refusals: ['transfer_ended'],
    shows: { status: 'cancelled' },
  }),
  listRejects: operation({
    method: 'GET',
    path: '/connections/{id}/transfers/{transferId}/rejects',
    tag: 'Transfers',
    summary: 'List the records that a transfer rejected',
    description:
      'Lists rejected records in the order of the source, each with its reason. With `Accept: application/x-ndjson` or `text/csv`, all of them are streamed.',
    scope: 'account',
    query: { ...page },
    reply: Reject,
    list: 'paged',
    streams: ['application/x-ndjson', 'text/csv'],
    done: 'Rejected records listed',
  }),
  getReplayable: operation({
    method: 'GET',
    path: '/connections/{id}/transfers/{transferId}/replay',
    tag: 'Transfers',
    summary: 'Count the records that a replay would send',
    description:
      'Counts the rejected records of a transfer: those that a replay sends, those that earlier replays delivered, and those that were not kept.',
    scope: 'account',
    reply: Replayable,
    done: 'Rejected records counted',
  }),
  replayTransfer: operation({
    method: 'POST',
    path: '/connections/{id}/transfers/{transferId}/replay',
    tag: 'Transfers',
    summary: 'Replay the rejected records of a transfer',
    description:
      'Starts a new transfer of only the rejected records, as they were read, with the current settings of the connection. Records that an earlier replay delivered are not sent again. `rejects` says how many records cannot be sent because they were not kept.',
    scope: 'account',
    reply: ReplayTransfer,
    success: 202,
    done: 'Transfer started',
    already: 'A transfer of this connection is already active',
    refusals: ['account_disabled', 'connection_not_active', 'nothing_to_replay', 'transfer_not_supported'],
    shows: { ...startedTransfer, trigger: 'replay' },
  }),
  getSchedule: operation({
    method: 'GET',
    path: '/connections/{id}/schedule',
    tag: 'Transfers',
    summary: 'Get the schedule of a connection',
    description: 'Returns the schedule of a connection. Answers 404 if the connection has no schedule.',
    scope: 'account',
    reply: Schedule,
    done: 'Schedule found',
  }),
  setSchedule: operation({
    method: 'PUT',
    path: '/connections/{id}/schedule',
    tag: 'Transfers',
    summary: 'Set the schedule of a connection',
    description:
      'Sets when transfers of a connection start automatically. Several transfers that were missed while the service was down are replaced by one. A scheduled transfer is skipped while another one is active.',
    scope: 'account',
    body: SetSchedule,
    reply: Schedule,
    done: 'Schedule set',
    refusals: ['connection_deleted', 'quota_exceeded', 'not_editable', 'transfer_not_supported'],
  }),
  deleteSchedule: operation({
    method: 'DELETE',
    path: '/connections/{id}/schedule',
    tag: 'Transfers',
    summary: 'Delete the schedule of a connection',
    description: 'No transfer starts automatically any more. Returns the deleted schedule.',
    scope: 'account',
    reply: Schedule,
    done: 'Schedule deleted',
    refusals: ['not_editable'],
  }),

  // Reports (ours)
  reportAccounts: operation({
    method: 'GET',
    path: '/reports/accounts',
    tag: 'Reports',
    summary: 'Report the volume of sub-accounts',
    description:
      'Records and bytes of each sub-account by day and month, from the ledger. Sorted by name of the sub-account.',
    scope: 'organization',
    query: { ...days, q: Type.Optional(q), accountIds, ...page },
    reply: AccountReport,
    list: 'paged',
    done: 'Volume of sub-accounts reported',
  }),
  reportConnections: operation({
    method: 'GET',
    path: '/reports/connections',
    tag: 'Reports',
    summary: 'Report the volume of connections',
    description:
      'Records and bytes of each connection of a sub-account by day and month, from the ledger. Sorted by name of the connection, deleted connections included.',
    scope: 'account',
    query: { ...days, q: Type.Optional(q), connectionIds, ...page },
    reply: ConnectionReport,
    list: 'paged',
    done: 'Volume of connections reported',
  }),
} as const

export type Operations = typeof operations
export type OperationId = keyof Operations

/** The query that an operation takes, as its rule sees it: coerced, with defaults. `accountId` apart. */
export type QueryOf<I extends OperationId> = Operations[I] extends { query: infer Q extends Record<string, TSchema> }
  ? Static<TObject<Q>>
  : Record<never, never>

/** The body that an operation takes. */
export type BodyOf<I extends OperationId> = Operations[I] extends { body: infer B extends TSchema }
  ? Static<B>
  : undefined

/** The payload that an operation answers. */
export type ReplyOf<I extends OperationId> = Operations[I] extends { list: string }
  ? Static<Operations[I]['reply']>[]
  : Static<Operations[I]['reply']>

/** Whether an operation answers pages. */
export type IsPaged<I extends OperationId> = Operations[I] extends { list: 'paged' } ? true : false

/** Whether the path of an operation names one resource. */
export type HasId<I extends OperationId> = Operations[I]['path'] extends `${string}{id}${string}` ? true : false

/** Whether the path of an operation names a transfer. */
export type HasTransferId<I extends OperationId> = Operations[I]['path'] extends `${string}{transferId}${string}`
  ? true
  : false
