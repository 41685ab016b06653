import {
  type AccountDeps,
  addAccount,
  deleteAccount,
  editAccount,
  getAccount,
  listAccounts,
} from './accounts/accounts.ts'
import { getUsage, listAccountFigures } from './accounts/figures.ts'
import { acknowledgeAlertIncident, getAlertIncident, listAlertIncidents } from './alerts/incidents.ts'
import {
  type AlertDeps,
  createAlertRule,
  deleteAlertRule,
  getAlertRule,
  listAlertRules,
  muteAlertRule,
  testAlertRule,
  updateAlertRule,
} from './alerts/rules.ts'
import { listAttention } from './attention/attention.ts'
import { type AuditDeps, listAudit, verifyAudit } from './audit/audit.ts'
import { authorizeConnector, getConnectorAuthorization } from './authorizations/authorizations.ts'
import type { Handlers } from './call.ts'
import { getBranding, setBranding } from './connect-links/branding.ts'
import { createConnectLink, getConnectLink, listConnectLinks, revokeConnectLink } from './connect-links/links.ts'
import { type ConnectPageDeps, finishConnectPage, getConnectPage, openConnectPage } from './connect-links/page.ts'
import {
  createConnection,
  deleteConnection,
  getConnection,
  listConnectionEvents,
  listConnections,
  restoreConnection,
  updateConnection,
  updateConnectionStatus,
} from './connections/connections.ts'
import { listConnectionDetails } from './connections/details.ts'
import {
  getConnectionLabels,
  listConnectionLabels,
  listConnectionTags,
  setConnectionLabels,
} from './connections/labels.ts'
import { listPurposes, setPurposes } from './connections/purposes.ts'
import {
  createSavedFilter,
  deleteSavedFilter,
  listSavedFilters,
  updateSavedFilter,
} from './connections/saved-filters.ts'
import {
  applyMappingTemplate,
  createMappingTemplate,
  deleteMappingTemplate,
  getMappingTemplate,
  listMappingTemplates,
  updateMappingTemplate,
} from './connections/templates.ts'
import {
  createConnectorConfiguration,
  deleteConnectorConfiguration,
  listConnectorConfigurations,
} from './connectors/configurations.ts'
import {
  addConnectors,
  type ConnectorDeps,
  configureConnector,
  getConnector,
  getConnectorConfiguration,
  listAddedConnectors,
  listConnectors,
  listConnectorWords,
  listSupportedConnectors,
  removeConnector,
} from './connectors/connectors.ts'
import {
  type ClientDeps,
  createClient,
  getClient,
  listClients,
  renameClient,
  revokeClient,
  rotateClient,
} from './organizations/clients.ts'
import { reportAudiences } from './reports/audiences.ts'
import { reportAccounts, reportConnections } from './reports/reports.ts'
import { previewSample } from './samples/rows.ts'
import { createSample, deleteSample, getSample, type SampleDeps } from './samples/samples.ts'
import {
  deleteSingleSignOn,
  getSingleSignOn,
  type SingleSignOnDeps,
  setSingleSignOn,
} from './single-sign-on/provider.ts'
import { getStreamEvents } from './streams/newest.ts'
import { createStreamKey, deleteStreamKey, getStream, type StreamDeps, sendTestEvent } from './streams/streams.ts'
import { createSession } from './tokens/sessions.ts'
import { createToken, type TokenDeps } from './tokens/tokens.ts'
import { checkConnector } from './transfers/check.ts'
import { getConnectionRules, setConnectionRules } from './transfers/connection-rules.ts'
import { listConnectionTables, setConnectionTables } from './transfers/connection-tables.ts'
import { eraseAtDestination, listErasureDestinations } from './transfers/data-subjects/at-destinations.ts'
import { eraseDataSubject, findDataSubject } from './transfers/data-subjects/data-subjects.ts'
import { getConnectorDefinition } from './transfers/definitions.ts'
import { discoverValues } from './transfers/discover.ts'
import { getDrift, setDrift } from './transfers/drift.ts'
import { listTransferLog } from './transfers/log.ts'
import { listTransferParts } from './transfers/parts.ts'
import { previewConnection } from './transfers/preview.ts'
import { editRejects } from './transfers/reject-edits.ts'
import { listRejects } from './transfers/rejects.ts'
import { getReplayable, replayTransfer } from './transfers/replays.ts'
import { askSource, tryDestination } from './transfers/requests.ts'
import { retryTransfer } from './transfers/retries.ts'
import { getRunConditions, setRunConditions } from './transfers/run-conditions.ts'
import { deleteSchedule, getSchedule, listSchedules, setSchedule } from './transfers/schedules.ts'
import { getConnectionState, resetConnectionState } from './transfers/state.ts'
import { listTransferGroups, setTransferGroups } from './transfers/transfer-groups.ts'
import {
  cancelTransfer,
  getTransfer,
  listAllTransfers,
  listTransfers,
  startTransfer,
  type TransferDeps,
} from './transfers/transfers.ts'
import { createTrigger, deleteTrigger, listTriggers } from './transfers/triggers.ts'
import { createUpload, deleteUpload, getUpload, listUploads, type UploadDeps } from './uploads/uploads.ts'
import type { UserDeps } from './users/deps.ts'
import { acceptInvitation, getInvitation, requestPasswordReset, resetPassword } from './users/invitations.ts'
import {
  listMyPasskeys,
  registerPasskey,
  removePasskey,
  signInWithPasskey,
  startPasskeyRegistration,
  startPasskeySignIn,
} from './users/passkeys.ts'
import { changePassword, endMySession, getMe, listMySessions, updateMe } from './users/self.ts'
import { endMySessions, signIn, signOut } from './users/sign-in.ts'
import { getSignInRules, setSignInRules } from './users/sign-in-rules.ts'
import { getUser, inviteUser, listUsers, removeUser, resendInvitation, updateUser } from './users/users.ts'

import {
  getWebhookDelivery,
  listWebhookDeliveries,
  replayWebhook,
  replayWebhookDelivery,
  testWebhook,
} from './webhooks/deliveries.ts'
import {
  createWebhook,
  deleteWebhook,
  getWebhook,
  listWebhooks,
  rotateWebhookSecret,
  updateWebhook,
  type WebhookDeps,
} from './webhooks/webhooks.ts'

/**
 * Dependencies of the handlers in addition to the call: created once, in `service.ts`. Each module names the dependencies that
 * it needs.
 */
export type Deps = TokenDeps &
  ClientDeps &
  AccountDeps &
  AuditDeps &
  ConnectorDeps &
  TransferDeps &
  UserDeps &
  SingleSignOnDeps &
  WebhookDeps &
  ConnectPageDeps &
  UploadDeps &
  StreamDeps &
  SampleDeps &
  AlertDeps

/** The handler of every operation of the contract. */
export const handlers: Handlers<Deps> = {
  createToken,

  listConnectors,
  addConnectors,
  listAddedConnectors,
  listSupportedConnectors,
  getConnector,
  listConnectorConfigurations,
  getConnectorConfiguration,
  getConnectorDefinition,
  listConnectorWords,
  configureConnector,
  createConnectorConfiguration,
  deleteConnectorConfiguration,
  getConnectorAuthorization,
  authorizeConnector,
  removeConnector,
  checkConnector,
  discoverValues,
  askSource,
  tryDestination,

  getAccount,
  listAccounts,
  listAccountFigures,
  getUsage,
  addAccount,
  editAccount,
  deleteAccount,

  listConnections,
  listConnectionDetails,
  listConnectionLabels,
  listConnectionTags,
  getConnectionLabels,
  setConnectionLabels,
  listSavedFilters,
  createSavedFilter,
  updateSavedFilter,
  deleteSavedFilter,
  listMappingTemplates,
  createMappingTemplate,
  getMappingTemplate,
  updateMappingTemplate,
  deleteMappingTemplate,
  applyMappingTemplate,
  createConnection,
  updateConnection,
  updateConnectionStatus,
  deleteConnection,
  restoreConnection,
  getConnection,
  listConnectionEvents,
  previewConnection,

  startTransfer,
  listAllTransfers,
  listTransfers,
  getTransfer,
  cancelTransfer,
  listTransferLog,
  listTransferParts,
  listRejects,
  editRejects,
  findDataSubject,
  eraseDataSubject,
  listErasureDestinations,
  eraseAtDestination,
  getReplayable,
  replayTransfer,
  retryTransfer,
  listSchedules,
  getSchedule,
  setSchedule,
  deleteSchedule,
  listConnectionTables,
  setConnectionTables,
  getDrift,
  setDrift,
  getConnectionRules,
  setConnectionRules,
  getRunConditions,
  setRunConditions,
  listPurposes,
  setPurposes,
  listTransferGroups,
  setTransferGroups,
  listTriggers,
  createTrigger,
  deleteTrigger,
  getConnectionState,
  resetConnectionState,

  listAttention,

  reportAccounts,
  reportConnections,
  reportAudiences,

  listClients,
  getClient,
  createClient,
  renameClient,
  rotateClient,
  revokeClient,
  createSession,

  getSignInRules,
  setSignInRules,
  createConnectLink,
  listConnectLinks,
  getConnectLink,
  revokeConnectLink,
  getConnectPage,
  openConnectPage,
  finishConnectPage,
  getBranding,
  setBranding,

  getSingleSignOn,
  setSingleSignOn,
  deleteSingleSignOn,

  listWebhooks,
  createWebhook,
  getWebhook,
  updateWebhook,
  deleteWebhook,
  rotateWebhookSecret,
  testWebhook,
  replayWebhook,
  listWebhookDeliveries,
  getWebhookDelivery,
  replayWebhookDelivery,

  listAudit,
  verifyAudit,

  listAlertRules,
  createAlertRule,
  getAlertRule,
  updateAlertRule,
  deleteAlertRule,
  muteAlertRule,
  testAlertRule,
  listAlertIncidents,
  getAlertIncident,
  acknowledgeAlertIncident,

  getStream,
  getStreamEvents,
  sendTestEvent,
  createStreamKey,
  deleteStreamKey,

  listUploads,
  createUpload,
  getUpload,
  deleteUpload,
  getSample,
  createSample,
  deleteSample,
  previewSample,

  signIn,
  signOut,
  getMe,
  updateMe,
  changePassword,
  listMySessions,
  endMySession,
  endMySessions,
  startPasskeyRegistration,
  registerPasskey,
  listMyPasskeys,
  removePasskey,
  startPasskeySignIn,
  signInWithPasskey,
  listUsers,
  getUser,
  inviteUser,
  resendInvitation,
  updateUser,
  removeUser,
  getInvitation,
  acceptInvitation,
  requestPasswordReset,
  resetPassword,
}
