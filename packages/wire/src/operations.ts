import type { Operation } from './operation.ts'
import { accounts } from './operations/accounts.ts'
import { alerts } from './operations/alerts.ts'
import { audit } from './operations/audit.ts'
import { clients } from './operations/clients.ts'
import { connectLinks } from './operations/connect-links.ts'
import { connectionSettings } from './operations/connection-settings.ts'
import { connections } from './operations/connections.ts'
import { connectors } from './operations/connectors.ts'
import { labels } from './operations/labels.ts'
import { mappingTemplates } from './operations/mapping-templates.ts'
import { me } from './operations/me.ts'
import { rejects } from './operations/rejects.ts'
import { reports } from './operations/reports.ts'
import { singleSignOn } from './operations/single-sign-on.ts'
import { streams } from './operations/streams.ts'
import { transfers } from './operations/transfers.ts'
import { uploads } from './operations/uploads.ts'
import { users } from './operations/users.ts'
import { webhooks } from './operations/webhooks.ts'
import type { Static, TObject, TSchema } from './type.ts'

/**
 *  The whole API on one page: the name, method and path of every operation. `operations/` has a file for each resource, with the
 *  summary, parameters, answer and refusals of its operations. Server, client, OpenAPI document and tests derive from both. The
 *  order is the order of the specification (section 4) and of the documents.
 */
const routes = {
  // clients
  createToken: 'POST /oauth/client-token',

  // connectors
  listConnectors: 'GET /connectors',
  addConnectors: 'POST /connectors',
  listAddedConnectors: 'GET /connectors/added',
  listSupportedConnectors: 'GET /connectors/supported',
  getConnector: 'GET /connectors/{id}',
  listConnectorConfigurations: 'GET /connectors/configurations',
  getConnectorConfiguration: 'GET /connectors/{id}/configuration',
  getConnectorDefinition: 'GET /connectors/{id}/definition',
  listConnectorWords: 'GET /connectors/words',
  configureConnector: 'PUT /connectors/{id}/configuration',
  createConnectorConfiguration: 'POST /connectors/{id}/configurations',
  deleteConnectorConfiguration: 'DELETE /connectors/{id}/configuration',
  getConnectorAuthorization: 'GET /connectors/{id}/authorization',
  authorizeConnector: 'POST /connectors/{id}/authorization',
  removeConnector: 'DELETE /connectors/{id}',
  checkConnector: 'POST /connectors/{id}/check',
  discoverValues: 'POST /connectors/{id}/discover',
  askSource: 'POST /connectors/{id}/ask',
  tryDestination: 'POST /connectors/{id}/try',

  // accounts
  getAccount: 'GET /accounts/{id}',
  listAccounts: 'GET /accounts',
  listAccountFigures: 'GET /accounts/figures',
  getUsage: 'GET /organization/usage',
  addAccount: 'POST /accounts',
  editAccount: 'PUT /accounts/{id}',
  deleteAccount: 'DELETE /accounts/{id}',

  // connections
  listConnections: 'GET /connections',
  listConnectionDetails: 'GET /connections/details',

  // labels
  listConnectionLabels: 'GET /connections/labels',
  listConnectionTags: 'GET /connections/tags',
  getConnectionLabels: 'GET /connections/{id}/labels',
  setConnectionLabels: 'PUT /connections/{id}/labels',
  listSavedFilters: 'GET /saved-filters',
  createSavedFilter: 'POST /saved-filters',
  updateSavedFilter: 'PUT /saved-filters/{id}',
  deleteSavedFilter: 'DELETE /saved-filters/{id}',

  // mapping-templates
  listMappingTemplates: 'GET /mapping-templates',
  createMappingTemplate: 'POST /mapping-templates',
  getMappingTemplate: 'GET /mapping-templates/{id}',
  updateMappingTemplate: 'PUT /mapping-templates/{id}',
  deleteMappingTemplate: 'DELETE /mapping-templates/{id}',
  applyMappingTemplate: 'POST /mapping-templates/{id}/apply',

  // connections
  createConnection: 'POST /connections',
  updateConnection: 'PUT /connections/{id}',
  updateConnectionStatus: 'PUT /connections/{id}/status',
  deleteConnection: 'DELETE /connections/{id}',
  restoreConnection: 'POST /connections/{id}/restore',
  getConnection: 'GET /connections/{id}',
  listConnectionEvents: 'GET /connections/{id}/events',
  listAttention: 'GET /attention',

  // transfers
  listAllTransfers: 'GET /transfers',
  previewConnection: 'POST /connections/{id}/preview',
  startTransfer: 'POST /connections/{id}/transfers',
  listTransfers: 'GET /connections/{id}/transfers',
  getTransfer: 'GET /connections/{id}/transfers/{transferId}',
  cancelTransfer: 'POST /connections/{id}/transfers/{transferId}/cancel',
  listTransferLog: 'GET /connections/{id}/transfers/{transferId}/log',
  listTransferParts: 'GET /connections/{id}/transfers/{transferId}/parts',

  // rejects
  listRejects: 'GET /connections/{id}/transfers/{transferId}/rejects',
  editRejects: 'PUT /connections/{id}/transfers/{transferId}/rejects',
  findDataSubject: 'POST /data-subjects/find',
  eraseDataSubject: 'POST /data-subjects/erase',
  listErasureDestinations: 'GET /data-subjects/destinations',
  eraseAtDestination: 'POST /connectors/{id}/erase',

  // transfers
  getReplayable: 'GET /connections/{id}/transfers/{transferId}/replay',
  replayTransfer: 'POST /connections/{id}/transfers/{transferId}/replay',
  retryTransfer: 'POST /connections/{id}/transfers/{transferId}/retry',

  // connection-settings
  listSchedules: 'GET /schedules',
  getSchedule: 'GET /connections/{id}/schedule',
  setSchedule: 'PUT /connections/{id}/schedule',
  deleteSchedule: 'DELETE /connections/{id}/schedule',
  getDrift: 'GET /connections/{id}/drift',
  setDrift: 'PUT /connections/{id}/drift',
  listConnectionTables: 'GET /connections/{id}/tables',
  setConnectionTables: 'PUT /connections/{id}/tables',
  getConnectionRules: 'GET /connections/{id}/rules',
  setConnectionRules: 'PUT /connections/{id}/rules',
  getRunConditions: 'GET /connections/{id}/run-conditions',
  setRunConditions: 'PUT /connections/{id}/run-conditions',
  listPurposes: 'GET /purposes',
  setPurposes: 'PUT /purposes',
  listTransferGroups: 'GET /transfer-groups',
  setTransferGroups: 'PUT /transfer-groups',
  listTriggers: 'GET /connections/{id}/triggers',
  createTrigger: 'POST /connections/{id}/triggers',
  deleteTrigger: 'DELETE /triggers/{id}',
  getConnectionState: 'GET /connections/{id}/state',
  resetConnectionState: 'POST /connections/{id}/state/reset',

  // streams
  getStream: 'GET /streams/{id}',
  getStreamEvents: 'GET /streams/{id}/events',
  sendTestEvent: 'POST /streams/{id}/test',
  createStreamKey: 'POST /streams/{id}/keys',
  deleteStreamKey: 'DELETE /stream-keys/{id}',

  // reports
  reportAccounts: 'GET /reports/accounts',
  reportConnections: 'GET /reports/connections',
  reportAudiences: 'GET /reports/audiences',

  // clients
  listClients: 'GET /clients',
  getClient: 'GET /clients/{id}',
  createClient: 'POST /clients',
  renameClient: 'PUT /clients/{id}',
  rotateClient: 'POST /clients/{id}/rotate',
  revokeClient: 'DELETE /clients/{id}',
  createSession: 'POST /sessions',

  // webhooks
  listWebhooks: 'GET /webhooks',
  createWebhook: 'POST /webhooks',
  getWebhook: 'GET /webhooks/{id}',
  updateWebhook: 'PUT /webhooks/{id}',
  deleteWebhook: 'DELETE /webhooks/{id}',
  rotateWebhookSecret: 'POST /webhooks/{id}/rotate',
  testWebhook: 'POST /webhooks/{id}/test',
  replayWebhook: 'POST /webhooks/{id}/replay',
  listWebhookDeliveries: 'GET /webhooks/{id}/deliveries',
  getWebhookDelivery: 'GET /webhook-deliveries/{id}',
  replayWebhookDelivery: 'POST /webhook-deliveries/{id}/replay',

  // connect-links
  createConnectLink: 'POST /connect-links',
  listConnectLinks: 'GET /connect-links',
  getConnectLink: 'GET /connect-links/{id}',
  revokeConnectLink: 'DELETE /connect-links/{id}',
  getConnectPage: 'POST /connect-page/get',
  openConnectPage: 'POST /connect-page/open',
  finishConnectPage: 'POST /connect-page/finish',
  getBranding: 'GET /organization/branding',
  setBranding: 'PUT /organization/branding',

  // me
  signIn: 'POST /sign-in',
  signOut: 'POST /sign-out',
  getMe: 'GET /me',
  updateMe: 'PUT /me',
  changePassword: 'PUT /me/password',
  listMySessions: 'GET /me/sessions',
  endMySession: 'DELETE /me/sessions/{id}',
  endMySessions: 'POST /me/sign-out-everywhere',
  startPasskeyRegistration: 'POST /me/passkeys/options',
  registerPasskey: 'POST /me/passkeys',
  listMyPasskeys: 'GET /me/passkeys',
  removePasskey: 'DELETE /me/passkeys/{id}',
  startPasskeySignIn: 'POST /sign-in/passkey/options',
  signInWithPasskey: 'POST /sign-in/passkey',

  // users
  listUsers: 'GET /users',
  getUser: 'GET /users/{id}',
  inviteUser: 'POST /users',
  resendInvitation: 'POST /users/{id}/invitation',
  updateUser: 'PUT /users/{id}',
  removeUser: 'DELETE /users/{id}',
  getInvitation: 'POST /invitations/get',
  acceptInvitation: 'POST /invitations/accept',
  requestPasswordReset: 'POST /password-resets',
  resetPassword: 'POST /password-resets/complete',

  // single-sign-on
  getSingleSignOn: 'GET /organization/single-sign-on',
  setSingleSignOn: 'PUT /organization/single-sign-on',
  deleteSingleSignOn: 'DELETE /organization/single-sign-on',
  getSignInRules: 'GET /organization/sign-in-rules',
  setSignInRules: 'PUT /organization/sign-in-rules',

  // audit
  listAudit: 'GET /audit',
  verifyAudit: 'GET /audit/verification',

  // alerts
  listAlertRules: 'GET /alert-rules',
  createAlertRule: 'POST /alert-rules',
  getAlertRule: 'GET /alert-rules/{id}',
  updateAlertRule: 'PUT /alert-rules/{id}',
  deleteAlertRule: 'DELETE /alert-rules/{id}',
  muteAlertRule: 'PUT /alert-rules/{id}/mute',
  testAlertRule: 'POST /alert-rules/{id}/test',
  listAlertIncidents: 'GET /alert-incidents',
  getAlertIncident: 'GET /alert-incidents/{id}',
  acknowledgeAlertIncident: 'POST /alert-incidents/{id}/acknowledge',

  // uploads
  listUploads: 'GET /uploads',
  createUpload: 'POST /uploads',
  getUpload: 'GET /uploads/{id}',
  deleteUpload: 'DELETE /uploads/{id}',
  getSample: 'GET /sample',
  createSample: 'POST /sample',
  deleteSample: 'DELETE /sample',
  previewSample: 'POST /sample/preview',
} as const satisfies Record<keyof typeof definitions, `${Operation['method']} /${string}`>

const definitions = {
  ...clients,
  ...connectors,
  ...accounts,
  ...connections,
  ...labels,
  ...mappingTemplates,
  ...transfers,
  ...rejects,
  ...reports,
  ...connectionSettings,
  ...webhooks,
  ...connectLinks,
  ...me,
  ...users,
  ...singleSignOn,
  ...audit,
  ...alerts,
  ...streams,
  ...uploads,
}

type RouteOf<R extends string> = R extends `${infer Method extends Operation['method']} ${infer Path}`
  ? { method: Method; path: Path }
  : never

export type Operations = {
  readonly [I in keyof typeof routes]: RouteOf<(typeof routes)[I]> & (typeof definitions)[I]
}
export type OperationId = keyof Operations

/** Every operation by its name, with its method and path. */
export const operations = Object.fromEntries(
  Object.entries(routes).map(([id, route]) => {
    const [method, path] = route.split(' ')
    return [id, { method, path, ...definitions[id as OperationId] }]
  }),
) as Operations

/** The query of an operation, as its rule sees it: coerced, with defaults, without `accountId`. */
export type QueryOf<I extends OperationId> = Operations[I] extends { query: infer Q extends Record<string, TSchema> }
  ? Static<TObject<Q>>
  : Record<never, never>

/** The body of an operation. */
export type BodyOf<I extends OperationId> = Operations[I] extends { body: infer B extends TSchema }
  ? Static<B>
  : Operations[I] extends { file: true }
    ? FileBody
    : undefined

/** The bytes of an uploaded file. */
export type FileBody = Blob | ArrayBuffer | Uint8Array<ArrayBuffer>

/** The payload of the response of an operation. */
export type ReplyOf<I extends OperationId> = Operations[I] extends { list: string }
  ? Static<Operations[I]['reply']>[]
  : Static<Operations[I]['reply']>

/** Whether an operation returns pages. */
export type IsPaged<I extends OperationId> = Operations[I] extends { list: 'paged' } ? true : false

/** Whether the path of an operation names a transfer. */
export type HasTransferId<I extends OperationId> = Operations[I]['path'] extends `${string}{transferId}${string}`
  ? true
  : false
