import { randomBytes } from 'node:crypto'
import { type Operation, type OperationId, operations, takesIdempotencyKey } from '@penstock/wire'
import { addIncident } from './alerts.ts'
import { answerWith, createCredential } from './authenticator.ts'
import { createLink, openLink, tokenOf } from './connect-links.ts'
import { addConnection, addEndedTransfer, addFolder, addTables, inboxFile, localFolder } from './connections.ts'
import {
  anyFile,
  type Caller,
  connectorBySlug,
  destination,
  destinationSettings,
  source,
  sourceSecrets,
  sourceSettings,
} from './fixtures.ts'
import { authorizable, registerApp } from './oauth-apps.ts'
import type { Organization, TestService } from './service.ts'
import type { Draft } from './spoilings.ts'
import { addStream } from './streams.ts'
import { addPerson, addResetLink, goodPassword, invite, newEmail, signInAgain } from './users.ts'

/**
 * Targets of requests: an account with both sides, one connection and a deleted connection; further connections with a schedule
 * and an ended transfer, and with a waiting transfer; unused client credentials; a person who is signed in, and a person who is
 * invited.
 */
export type Scene = Readonly<
  Record<
    | 'accountId'
    | 'srcConfigurationId'
    | 'secondConfigurationId'
    | 'destConfigurationId'
    | 'connectionId'
    | 'deletedId'
    | 'activeId'
    | 'endedId'
    | 'busyId'
    | 'waitingId'
    | 'clientId'
    | ('webhookId' | 'deliveryId')
    | ('linkId' | 'linkToken' | 'pageToken')
    | ('alertRuleId' | 'alertIncidentId')
    | ('streamId' | 'streamKeyId')
    | ('uploadId' | 'savedFilterId' | 'mappingTemplateId' | 'triggerId')
    | ('personId' | 'personEmail' | 'cookie' | 'csrfToken' | 'userId' | 'sessionId' | 'invitation' | 'passwordReset'),
    string
  >
>

/** A connector that no connection of a scene uses. */
const spare = connectorBySlug('adobe-audience-manager')
const httpApi = connectorBySlug('http-api')
const audiences = connectorBySlug('meta-custom-audiences')
/** No server is there. */
const erasing = { secretConfig: { url: 'http://127.0.0.1:1', definition: 'erasure: { email: { path: /a } }' } }

/**
 * Creates a scene through the API.
 * @param folder a directory that the service can read, with a file in it
 */
export async function makeScene(service: TestService, caller: Caller, folder: string): Promise<Scene> {
  const { id: accountId } = await caller.addAccountWithSides()
  await caller.configureSides(accountId)
  await caller.addConnectors(accountId, spare, authorizable, httpApi)
  await caller.expect(caller.call('configureConnector', { accountId, id: httpApi.id, body: erasing }))
  await registerApp(service, authorizable)
  const { id: connectionId } = await caller.createConnection(accountId)
  const { id: deletedId } = await caller.createConnection(accountId)
  await caller.expect(caller.call('deleteConnection', { accountId, id: deletedId }))
  const details = await caller.expect(caller.call('getConnection', { accountId, id: connectionId }))
  const { srcConfigurationId, destConfigurationId } = details
  const second = { accountId, id: source.id, body: { name: 'Second', secretConfig: sourceSecrets } }
  const { configurationId: secondConfigurationId } = await caller.expect(
    caller.call('createConnectorConfiguration', second),
  )
  await addFolder(caller, accountId, folder)
  const active = await addConnection(caller, accountId)
  const endedId = await addEndedTransfer(service, caller, active)
  await caller.expect(caller.call('setSchedule', { ...active, body: { cron: '0 6 * * *' } }))
  const busy = await addConnection(caller, accountId, 'Busy')
  const alert = await addIncident(service, caller, accountId)
  const { id: clientId } = await caller.expect(caller.call('createClient', { body: { name: 'Key' } }))
  const webhook = { url: 'http://127.0.0.1:1/', accountId, eventTypes: ['webhook.disabled' as const] }
  const { id: webhookId } = await caller.expect(caller.call('createWebhook', { body: webhook }))
  const { id: deliveryId } = await caller.expect(caller.call('testWebhook', { id: webhookId }))
  const link = await createLink(caller, accountId)
  const people = { call: caller.call }
  const person = await addPerson(people, {}, { role: 'owner' })
  const invited = await invite(people, {})
  const { headers } = await signInAgain(service, person)
  const sessions = await service.call('listMySessions', { headers: { ...headers } })
  const filter = { name: 'All', query: 'sort=name' }
  const saved = await service.call('createSavedFilter', { headers: { ...headers }, body: filter })
  const mapping = '{"email_sha256": "E-mail"}'
  const template = { name: 'People', accountId, destConnectorId: audiences.id, mapping }
  const { id: mappingTemplateId } = await caller.expect(caller.call('createMappingTemplate', { body: template }))
  const upload = { accountId, query: { name: 'people.csv' }, body: anyFile }
  const { id: uploadId } = await caller.expect(caller.call('createUpload', upload))
  const streamId = await addStream(caller, accountId)
  const { id: streamKeyId } = await caller.expect(caller.call('createStreamKey', { accountId, id: streamId }))
  const trigger = { ...active, body: { name: 'Job' } }
  const { id: triggerId } = await caller.expect(caller.call('createTrigger', trigger))
  await addTables(service, active.id, 1)
  const { id: waitingId } = await caller.expect(caller.call('startTransfer', { ...busy, body: {} }))
  return {
    accountId,
    srcConfigurationId,
    secondConfigurationId,
    destConfigurationId,
    connectionId,
    deletedId,
    activeId: active.id,
    endedId,
    busyId: busy.id,
    waitingId,
    clientId,
    webhookId,
    deliveryId,
    alertRuleId: alert.ruleId,
    alertIncidentId: alert.incidentId,
    triggerId,
    streamId,
    streamKeyId,
    uploadId,
    savedFilterId: saved.response.id,
    mappingTemplateId,
    personId: person.id,
    personEmail: person.email,
    userId: invited.id,
    invitation: invited.token,
    cookie: person.headers.cookie,
    csrfToken: person.headers['x-csrf-token'],
    linkId: link.id,
    linkToken: tokenOf(link),
    pageToken: await openLink(service, await createLink(caller, accountId)),
    sessionId: sessions.response.find(({ current }) => current)?.id ?? '',
    passwordReset: await addResetLink(service, person.id),
  }
}

const runTime = { srcConnectionConfig: { files: inboxFile }, destConnectionConfig: { subfolder: 'elsewhere' } }
const month = { startDate: '2026-02-01', endDate: '2026-02-28' }

/** One whose challenge was never given out. */
const newCredential = () => createCredential({ rp: { id: 'penstock.test' }, user: { id: 'AAAA' }, challenge: 'AAAA' })

/** Parameters and body of a valid request of each operation. */
const valid: {
  readonly [I in OperationId]: (
    scene: Scene,
    organization: Organization,
  ) => { id?: string; transferId?: string; query?: Record<string, string>; body?: unknown; bytes?: Buffer }
} = {
  createToken: (_, { clientId, clientSecret }) => ({ body: { clientId, clientSecret } }),
  listConnectors: () => ({
    query: { q: 'a', dataType: 'data store', supportedType: 'Source', size: '5', offset: '0' },
  }),
  addConnectors: () => ({ body: { connectorIds: [source.id, destination.id] } }),
  listAddedConnectors: () => ({ query: { q: 'a', configured: 'true', sort: 'name', size: '5', offset: '0' } }),
  listSupportedConnectors: () => ({ query: { srcConnectorId: source.id, added: 'true' } }),
  getConnector: () => ({ id: source.id }),
  listConnectorConfigurations: () => ({ query: { size: '5', offset: '0' } }),
  getConnectorConfiguration: () => ({ id: source.id }),
  getConnectorDefinition: () => ({ id: source.id }),
  listConnectorWords: () => ({}),
  configureConnector: ({ srcConfigurationId }) => ({
    id: source.id,
    body: { name: 'Name', secretConfig: sourceSecrets, configurationId: srcConfigurationId, secretName: 'Secret' },
  }),
  createConnectorConfiguration: () => ({
    id: source.id,
    body: { name: 'Third', secretConfig: sourceSecrets, secretName: 'Secret' },
  }),
  deleteConnectorConfiguration: ({ secondConfigurationId }) => ({
    id: source.id,
    query: { configurationId: secondConfigurationId },
  }),
  removeConnector: () => ({ id: spare.id }),
  getAccount: ({ accountId }) => ({ id: accountId }),
  listAccounts: () => ({ query: { q: 'a', size: '5', offset: '0' } }),
  listAccountFigures: () => ({ query: { q: 'a', failing: 'false', sort: '-rows', size: '5', offset: '0' } }),
  getUsage: () => ({}),
  addAccount: () => ({ body: { name: 'Name', enabled: true } }),
  editAccount: ({ accountId }) => ({ id: accountId, body: { name: 'Name', enabled: true } }),
  deleteAccount: ({ accountId }) => ({ id: accountId }),
  listConnections: () => ({
    query: { q: 'a', status: 'active', tags: 'a', owner: 'none', sort: 'name', size: '5', offset: '0' },
  }),
  listConnectionDetails: ({ activeId }) => ({ query: { rejectsOf: activeId, size: '5', offset: '0' } }),
  listConnectionLabels: () => ({ query: { size: '5', offset: '0' } }),
  listConnectionTags: () => ({ query: { q: 'a', size: '5', offset: '0' } }),
  getConnectionLabels: ({ connectionId }) => ({ id: connectionId }),
  setConnectionLabels: ({ connectionId }) => ({ id: connectionId, body: { tags: ['a'], ownerEmail: null } }),
  listSavedFilters: () => ({ query: { q: 'a', size: '5', offset: '0' } }),
  createSavedFilter: ({ accountId }) => ({ body: { name: 'Name', query: 'q=a', accountId, shared: true } }),
  updateSavedFilter: ({ savedFilterId }) => ({ id: savedFilterId, body: { name: 'Name', query: 'q=a' } }),
  deleteSavedFilter: ({ savedFilterId }) => ({ id: savedFilterId }),
  listMappingTemplates: () => ({ query: { q: 'a', destConnectorId: audiences.id, size: '5', offset: '0' } }),
  createMappingTemplate: ({ accountId }) => ({
    body: {
      name: 'Name',
      accountId,
      destConnectorId: audiences.id,
      srcConnectorId: source.id,
      mapping: '{"email_sha256": "E-mail"}',
    },
  }),
  getMappingTemplate: ({ mappingTemplateId }) => ({ id: mappingTemplateId }),
  updateMappingTemplate: ({ mappingTemplateId }) => ({
    id: mappingTemplateId,
    body: { name: 'Name', mapping: '{"email_sha256": "E-mail"}' },
  }),
  deleteMappingTemplate: ({ mappingTemplateId }) => ({ id: mappingTemplateId }),
  applyMappingTemplate: ({ mappingTemplateId }) => ({ id: mappingTemplateId, body: { columns: ['E-mail'] } }),
  createConnection: ({ srcConfigurationId, destConfigurationId }) => ({
    body: {
      name: 'Name',
      srcConnectorId: source.id,
      destConnectorId: destination.id,
      srcConfigurationId,
      destConfigurationId,
      srcConnectionConfig: sourceSettings,
      destConnectionConfig: destinationSettings,
    },
  }),
  updateConnection: ({ connectionId }) => ({
    id: connectionId,
    body: {
      id: connectionId,
      name: 'Name',
      srcConnectorId: source.id,
      destConnectorId: destination.id,
      srcConnectionConfig: sourceSettings,
      destConnectionConfig: destinationSettings,
    },
  }),
  updateConnectionStatus: ({ connectionId }) => ({ id: connectionId, body: { action: 'activate' } }),
  deleteConnection: ({ connectionId }) => ({ id: connectionId }),
  restoreConnection: ({ deletedId }) => ({ id: deletedId }),
  getConnection: ({ connectionId }) => ({ id: connectionId }),
  listConnectionEvents: ({ activeId }) => ({ id: activeId, query: { size: '5', offset: '0' } }),
  listAttention: () => ({ query: { reason: 'transfer_partial', size: '5', offset: '0' } }),
  getConnectorAuthorization: () => ({ id: authorizable.id }),
  authorizeConnector: () => ({ id: authorizable.id }),
  checkConnector: () => ({ id: localFolder.id }),
  discoverValues: () => ({
    id: localFolder.id,
    body: { field: 'files', role: 'Source', settings: {}, q: 'a', size: 5 },
  }),
  tryDestination: () => ({
    id: httpApi.id,
    body: {
      settings: { operation: 'a' },
      secretConfig: { url: 'http://127.0.0.1:1', definition: 'operations: { a: { path: /a, columns: { b: text } } }' },
      rows: [{ b: 'c' }],
    },
  }),
  askSource: () => ({
    id: httpApi.id,
    body: {
      settings: { stream: 'a' },
      secretConfig: { url: 'http://127.0.0.1:1', definition: 'streams: { a: { path: /a } }' },
      page: '2',
    },
  }),
  previewConnection: ({ activeId }) => ({ id: activeId, body: runTime }),
  startTransfer: ({ activeId }) => ({ id: activeId, body: { ...runTime, confirm: true } }),
  listAllTransfers: ({ activeId, busyId }) => ({
    query: {
      status: 'partial',
      latest: 'true',
      connectionIds: `${activeId},${busyId}`,
      sort: 'created',
      size: '5',
      offset: '0',
    },
  }),
  listTransfers: ({ activeId }) => ({
    id: activeId,
    query: { status: 'partial', sort: '-read', size: '5', offset: '0' },
  }),
  getTransfer: ({ activeId, endedId }) => ({ id: activeId, transferId: endedId }),
  cancelTransfer: ({ busyId, waitingId }) => ({ id: busyId, transferId: waitingId }),
  listTransferLog: ({ activeId, endedId }) => ({
    id: activeId,
    transferId: endedId,
    query: { size: '5', offset: '0' },
  }),
  listTransferParts: ({ activeId, endedId }) => ({
    id: activeId,
    transferId: endedId,
    query: { size: '5', offset: '0' },
  }),
  listRejects: ({ activeId, endedId }) => ({ id: activeId, transferId: endedId, query: { size: '5', offset: '0' } }),
  editRejects: ({ activeId, endedId }) => ({
    id: activeId,
    transferId: endedId,
    body: { edits: [{ number: 1, record: { email: 'corrected@example.com' } }] },
  }),
  findDataSubject: () => ({ body: { values: ['jane.doe@example.com'] } }),
  eraseDataSubject: () => ({ body: { values: ['jane.doe@example.com'] } }),
  listErasureDestinations: () => ({ query: { size: '5', offset: '0' } }),
  eraseAtDestination: () => ({
    id: httpApi.id,
    body: { identifiers: [{ kind: 'email', value: 'jane.doe@example.com' }] },
  }),
  getReplayable: ({ activeId, endedId }) => ({ id: activeId, transferId: endedId }),
  replayTransfer: ({ activeId, endedId }) => ({ id: activeId, transferId: endedId }),
  retryTransfer: ({ activeId, endedId }) => ({ id: activeId, transferId: endedId }),
  listSchedules: () => ({ query: { size: '5', offset: '0' } }),
  getSchedule: ({ activeId }) => ({ id: activeId }),
  setSchedule: ({ activeId }) => ({
    id: activeId,
    body: { cron: '0 6 * * *', timezone: 'Europe/Berlin', enabled: true },
  }),
  getDrift: ({ activeId }) => ({ id: activeId }),
  listConnectionTables: ({ activeId }) => ({
    id: activeId,
    query: { q: 'shop', status: 'active', size: '5', offset: '0' },
  }),
  setConnectionTables: ({ activeId }) => ({ id: activeId, body: { tables: ['shop.t001'], paused: true } }),
  getConnectionRules: ({ activeId }) => ({ id: activeId }),
  setConnectionRules: ({ activeId }) => ({
    id: activeId,
    body: { rules: [{ check: 'rejected', action: 'warn', percent: 5 }] },
  }),
  setDrift: ({ activeId }) => ({ id: activeId, body: { drift: 'stop', accept: true } }),
  getRunConditions: ({ activeId }) => ({ id: activeId }),
  setRunConditions: ({ activeId, busyId }) => ({ id: activeId, body: { runAfter: [busyId], group: null } }),
  listPurposes: () => ({ query: { size: '5', offset: '0' } }),
  setPurposes: () => ({
    body: {
      purposes: [{ name: 'advertising', signals: [{ kind: 'tcf', column: 'tcf', purposes: [1, 3], vendor: 755 }] }],
    },
  }),
  listTransferGroups: () => ({ query: { size: '5', offset: '0' } }),
  setTransferGroups: () => ({ body: { groups: [{ name: 'warehouse', transfersMax: 2 }] } }),
  getStream: ({ streamId }) => ({ id: streamId }),
  getStreamEvents: ({ streamId }) => ({ id: streamId, query: { size: '5' } }),
  sendTestEvent: ({ streamId }) => ({ id: streamId }),
  createStreamKey: ({ streamId }) => ({ id: streamId }),
  deleteStreamKey: ({ streamKeyId }) => ({ id: streamKeyId }),
  listTriggers: ({ activeId }) => ({ id: activeId, query: { size: '5', offset: '0' } }),
  createTrigger: ({ activeId }) => ({ id: activeId, body: { name: 'dbt', dbtCloudSecret: 'dbtc_0123456789' } }),
  deleteTrigger: ({ triggerId }) => ({ id: triggerId }),
  getConnectionState: ({ activeId }) => ({ id: activeId }),
  resetConnectionState: ({ activeId }) => ({ id: activeId, body: { rows: true } }),
  deleteSchedule: ({ activeId }) => ({ id: activeId }),
  reportAccounts: ({ accountId }) => ({ query: { ...month, q: 'a', accountIds: accountId, size: '5', offset: '0' } }),
  reportConnections: ({ activeId }) => ({
    query: { ...month, q: 'a', connectionIds: activeId, size: '5', offset: '0' },
  }),
  reportAudiences: ({ activeId }) => ({
    query: { ...month, q: 'a', connectionIds: activeId, size: '5', offset: '0' },
  }),
  listAlertRules: () => ({ query: { q: 'a', size: '5', offset: '0' } }),
  createAlertRule: ({ accountId, activeId }) => ({
    body: {
      name: 'Name',
      accountId,
      connectionIds: [activeId],
      enabled: true,
      conditions: {
        transferFailed: true,
        connectionBroken: true,
        rejectedPercent: 5,
        noSuccessHours: 26,
        volumePercent: 50,
        logKeptGb: 10,
        behindMinutes: 15,
        audienceBelow: 1_000,
        matchFellPercent: 20,
      },
      emails: ['data@example.com'],
      emailRoles: ['owner', 'admin'],
      slackUrl: 'https://hooks.example.com/slack',
      teamsUrl: 'https://hooks.example.com/teams',
    },
  }),
  getAlertRule: ({ alertRuleId }) => ({ id: alertRuleId }),
  updateAlertRule: ({ alertRuleId, activeId }) => ({
    id: alertRuleId,
    body: {
      name: 'Name',
      connectionIds: [activeId],
      enabled: true,
      conditions: { transferFailed: true },
      emails: ['data@example.com'],
      emailRoles: ['owner'],
      slackUrl: null,
      teamsUrl: '********',
    },
  }),
  deleteAlertRule: ({ alertRuleId }) => ({ id: alertRuleId }),
  muteAlertRule: ({ alertRuleId }) => ({ id: alertRuleId, body: { until: Math.floor(Date.now() / 1_000) + 3_600 } }),
  testAlertRule: ({ alertRuleId }) => ({ id: alertRuleId }),
  listUploads: () => ({ query: { size: '5', offset: '0' } }),
  createUpload: () => ({ query: { name: 'people.csv' }, bytes: Buffer.from(anyFile) }),
  getUpload: ({ uploadId }) => ({ id: uploadId }),
  deleteUpload: ({ uploadId }) => ({ id: uploadId }),
  getSample: () => ({}),
  createSample: ({ uploadId }) => ({ body: { uploadId } }),
  deleteSample: () => ({}),
  previewSample: () => ({}),
  listAlertIncidents: ({ alertRuleId }) => ({ query: { open: 'true', ruleId: alertRuleId, size: '5', offset: '0' } }),
  getAlertIncident: ({ alertIncidentId }) => ({ id: alertIncidentId }),
  acknowledgeAlertIncident: ({ alertIncidentId }) => ({ id: alertIncidentId }),
  listClients: () => ({ query: { q: 'a', size: '5', offset: '0' } }),
  getClient: ({ clientId }) => ({ id: clientId }),
  createClient: ({ accountId }) => ({
    body: { name: 'Name', scopes: ['accounts:read'], accountIds: [accountId], expiresTime: 4_102_444_800 },
  }),
  renameClient: ({ clientId }) => ({ id: clientId, body: { name: 'Name' } }),
  rotateClient: ({ clientId }) => ({ id: clientId, body: { overlapHours: 1 } }),
  revokeClient: ({ clientId }) => ({ id: clientId }),
  listAudit: ({ clientId, accountId }) => ({
    query: {
      q: 'edit account',
      actorId: clientId,
      action: 'editAccount',
      targetId: accountId,
      from: '0',
      to: '4102444800',
      size: '5',
      offset: '0',
    },
  }),
  verifyAudit: () => ({ query: { after: '1' } }),
  listWebhooks: () => ({ query: { size: '5', offset: '0' } }),
  createWebhook: ({ accountId }) => ({
    body: {
      url: 'http://127.0.0.1:1/',
      description: 'Text',
      accountId,
      eventTypes: ['transfer.failed'],
      enabled: true,
    },
  }),
  getWebhook: ({ webhookId }) => ({ id: webhookId }),
  updateWebhook: ({ webhookId }) => ({
    id: webhookId,
    body: { url: 'http://127.0.0.1:1/', description: 'Text', eventTypes: ['transfer.failed'], enabled: false },
  }),
  deleteWebhook: ({ webhookId }) => ({ id: webhookId }),
  rotateWebhookSecret: ({ webhookId }) => ({ id: webhookId, body: { overlapHours: 1 } }),
  testWebhook: ({ webhookId }) => ({ id: webhookId }),
  replayWebhook: ({ webhookId }) => ({ id: webhookId, body: { since: 1, status: 'failed' } }),
  listWebhookDeliveries: ({ webhookId }) => ({
    id: webhookId,
    query: { status: 'pending', size: '5', offset: '0' },
  }),
  getWebhookDelivery: ({ deliveryId }) => ({ id: deliveryId }),
  replayWebhookDelivery: ({ deliveryId }) => ({ id: deliveryId }),
  getSingleSignOn: () => ({}),
  // Nothing listens there.
  setSingleSignOn: () => ({
    body: { issuer: 'http://127.0.0.1:1', clientId: 'client', clientSecret: 'secret', required: false },
  }),
  deleteSingleSignOn: () => ({}),
  getSignInRules: () => ({}),
  setSignInRules: () => ({ body: { secondFactorRequired: false } }),
  createSession: ({ accountId }) => ({ body: { accountId, scopes: ['connections:read'], expiry: 600 } }),
  createConnectLink: ({ accountId }) => ({
    body: {
      accountId,
      connectorIds: [destination.id],
      connectionTemplate: {
        name: 'Name',
        srcConnectorId: source.id,
        destConnectorId: destination.id,
        srcConnectionConfig: sourceSettings,
        destConnectionConfig: destinationSettings,
        activate: true,
      },
      redirectUrl: 'https://shop.example.com/settings',
      expiry: 600,
    },
  }),
  listConnectLinks: () => ({ query: { size: '5', offset: '0' } }),
  getConnectLink: ({ linkId }) => ({ id: linkId }),
  revokeConnectLink: ({ linkId }) => ({ id: linkId }),
  getConnectPage: ({ linkToken }) => ({ body: { token: linkToken } }),
  openConnectPage: ({ linkToken }) => ({ body: { token: linkToken } }),
  finishConnectPage: ({ pageToken }) => ({ body: { token: pageToken, outcome: 'cancelled' } }),
  getBranding: () => ({}),
  setBranding: () => ({
    body: {
      name: 'Name',
      logo: null,
      colours: { primary: '#0a5c36', text: '#ffffff' },
      allowedOrigins: ['https://shop.example.com'],
    },
  }),
  signIn: ({ personEmail }, { organizationId }) => ({
    body: { email: personEmail, password: goodPassword, organizationId },
  }),
  signOut: () => ({}),
  getMe: () => ({}),
  updateMe: () => ({ body: { name: 'Name' } }),
  changePassword: () => ({ body: { currentPassword: goodPassword, newPassword: 'another one that is good' } }),
  listMySessions: () => ({}),
  endMySession: ({ sessionId }) => ({ id: sessionId }),
  endMySessions: () => ({}),
  startPasskeyRegistration: () => ({}),
  registerPasskey: () => ({ body: { name: 'Name', response: newCredential().response } }),
  listMyPasskeys: () => ({}),
  removePasskey: ({ userId }) => ({ id: userId }),
  startPasskeySignIn: () => ({}),
  signInWithPasskey: () => ({
    body: answerWith(newCredential().credential, { rpId: 'penstock.test', challenge: 'AAAA' }),
  }),
  listUsers: () => ({ query: { q: 'a', size: '5', offset: '0' } }),
  getUser: ({ userId }) => ({ id: userId }),
  inviteUser: ({ accountId }) => ({
    body: { email: newEmail(), name: 'Name', role: 'viewer', accountIds: [accountId] },
  }),
  resendInvitation: ({ userId }) => ({ id: userId }),
  updateUser: ({ userId, accountId }) => ({ id: userId, body: { role: 'editor', accountIds: [accountId] } }),
  removeUser: ({ userId }) => ({ id: userId }),
  getInvitation: ({ invitation }) => ({ body: { token: invitation } }),
  acceptInvitation: ({ invitation }) => ({ body: { token: invitation, name: 'Name', password: goodPassword } }),
  requestPasswordReset: ({ personEmail }) => ({ body: { email: personEmail } }),
  resetPassword: ({ passwordReset }) => ({ body: { token: passwordReset, newPassword: 'another one that is good' } }),
}

function credentialsOf({ actsIn, person }: Operation, scene: Scene, { token }: Organization): [string, string][] {
  if (actsIn === 'public') return []
  if (!person) return [['authorization', `Bearer ${token}`]]
  return [
    ['cookie', scene.cookie],
    ['x-csrf-token', scene.csrfToken],
  ]
}

let keysUsed = 0

/** A valid request of an operation, about a scene. */
export function draftOf(operationId: OperationId, scene: Scene, organization: Organization): Draft {
  const operation: Operation = operations[operationId]
  const { id = '', transferId = '', query = {}, body, bytes } = valid[operationId](scene, organization)
  const accountId: [string, string][] = operation.actsIn.includes('account') ? [['accountId', scene.accountId]] : []
  return {
    method: operation.method,
    path: operation.path.replace('{id}', id).replace('{transferId}', transferId),
    query: [
      ...accountId,
      ...Object.entries(query).map(([name, value]): [string, string] => [name, encodeURIComponent(value)]),
    ],
    headers: new Map([
      ['host', 'penstock.test'],
      ['connection', 'close'],
      ['x-forwarded-for', `fd00:0:${randomBytes(2).toString('hex')}:${randomBytes(2).toString('hex')}::1`],
      ...credentialsOf(operation, scene, organization),
      ...(body === undefined ? [] : [['content-type', 'application/json'] as const]),
      ...(bytes === undefined ? [] : [['content-type', 'application/octet-stream'] as const]),
      ...(takesIdempotencyKey(operation) ? [['idempotency-key', `key ${++keysUsed}`] as const] : []),
    ]),
    json: body,
    ...(bytes === undefined ? {} : { bytes }),
  }
}
