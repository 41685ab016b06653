import type { OperationId } from '@penstock/wire'
import { addIncident } from './alerts.ts'
import { addPasskey, preparePasskey, preparePasskeySignIn } from './authenticator.ts'
import { createLink, openLink, tokenOf } from './connect-links.ts'
import {
  addAccountWithConnection,
  addConnection,
  addEndedTransfer,
  addParts,
  addTables,
  failPart,
  localFolder,
} from './connections.ts'
import {
  anyFile,
  type Caller,
  callerOf,
  connectorBySlug,
  destination,
  destinationSettings,
  source,
  sourceSecrets,
  sourceSettings,
} from './fixtures.ts'
import { anyProvider, setProvider, settingsFor } from './identity-provider.ts'
import { authorizable, registerApp } from './oauth-apps.ts'
import type { CallOptions, Organization, TestService } from './service.ts'
import * as shapes from './shapes.ts'
import { addStream } from './streams.ts'
import { addPerson, addResetLink, goodPassword, invite, newEmail, type Person, signInAgain } from './users.ts'

const audiences = connectorBySlug('meta-custom-audiences')
const httpApi = connectorBySlug('http-api')

/**
 * One scenario for each operation, so that the walk covers the whole contract. The scenarios come literally from the
 * specification and `docs/api-decisions.md`. The walk compares the contract and the service with them.
 */
export type Scenario = {
  /** Method and path. */
  request: string
  /** Status of a success. */
  status: 200 | 201 | 202
  /** Status of a success that starts nothing new, because a transfer is active already. */
  again?: 200
  /** The payload. */
  reply: shapes.Shape
  /** The payload travels without an envelope. */
  bare?: true
  /** Whose it is, and so what a caller needs besides the path. */
  acts: 'for anyone' | 'in the organization' | 'in a sub-account' | 'in either'
  /** A read of one resource, which carries an ETag. */
  etag?: true
  /** A write of one resource. It accepts If-Match with the ETag that this read returns. */
  changes?:
    | 'getAccount'
    | 'getConnector'
    | 'getConnectorConfiguration'
    | 'getConnection'
    | 'getWebhook'
    | 'getAlertRule'
    | 'getMappingTemplate'
  /** Makes all that the call needs, and returns the call that must succeed. */
  prepare(party: Party): Promise<AnyCall>
}

/** A call of some operation. */
export type AnyCall = Omit<CallOptions<OperationId>, 'body'> & { body?: object }

/** An organization, its caller and an owner who is signed in, and where its folders are. */
export type Party = {
  service: TestService
  organization: Organization
  caller: Caller
  person: Person
  folder: string
}

/** @param folder a directory that the service can read, with a file in it */
export async function addParty(service: TestService, folder: string): Promise<Party> {
  const organization = await service.addOrganization()
  const person = await addPerson(service, organization, { role: 'owner' })
  return { service, organization, caller: callerOf(service, organization), person, folder }
}

/** A call as a party makes it: with a token, or with the session of its person where only people can. */
export const callOf = (
  { organization: { token }, person }: Party,
  id: OperationId,
  { headers, ...call }: AnyCall,
): AnyCall =>
  isForPeople(id)
    ? { ...call, headers: { ...person.headers, ...headers } }
    : { token, ...call, ...(headers ? { headers } : {}) }

/** Operations that only a person who is signed in can call. */
export const isForPeople = (id: OperationId): boolean =>
  /^(?:signOut|updateMe|changePassword|listMySessions|endMySessions?|startPasskeyRegistration|registerPasskey|listMyPasskeys|removePasskey|\w+SavedFilters?)$/.test(
    id,
  )

const anAccount = async ({ caller }: Party) => ({ id: (await caller.addAccount()).id })
const inAccount = async ({ caller }: Party) => ({ accountId: (await caller.addAccountWithSides()).id })
const aConnector = async (party: Party) => ({ ...(await inAccount(party)), id: source.id })
/** A connector with a second configuration. */
const aSecondConfiguration = async (party: Party) => {
  const connector = await aConnector(party)
  const body = { name: 'Second', secretConfig: sourceSecrets }
  const { caller } = party
  const made = await caller.expect(caller.call('createConnectorConfiguration', { ...connector, body }))
  return { ...connector, query: { configurationId: made.configurationId } }
}
const aConnection = async ({ caller }: Party) => {
  const { id: accountId } = await caller.addAccountWithSides()
  await caller.configureSides(accountId)
  return { accountId, id: (await caller.createConnection(accountId)).id }
}
const aLabelledConnection = async (party: Party) => {
  const { accountId, id } = await aConnection(party)
  const { service, organization, caller } = party
  const { email } = await addPerson(service, organization)
  await caller.expect(
    caller.call('setConnectionLabels', { accountId, id, body: { tags: ['production'], ownerEmail: email } }),
  )
  return { accountId, id }
}
const aSavedFilter = async ({ service, person }: Party) => {
  const headers = { ...person.headers }
  const { response } = await service.call('createSavedFilter', { headers, body: { name: 'All', query: 'sort=name' } })
  return { id: response.id }
}
/** The template belongs to a separate sub-account, so that a caller who is limited to another does not see it. */
const aMappingTemplate = async ({ caller }: Party) => {
  const { id: accountId } = await caller.addAccount()
  const body = { name: 'People', accountId, destConnectorId: audiences.id, mapping: '{"email_sha256": "E-mail"}' }
  return { id: (await caller.expect(caller.call('createMappingTemplate', { body }))).id }
}
const anActiveConnection = ({ caller, folder }: Party) => addAccountWithConnection(caller, folder)
const aConnectionOfTables = async (party: Party) => {
  const connection = await anActiveConnection(party)
  await addTables(party.service, connection.id, 2)
  return connection
}
const aQueuedTransfer = async (party: Party) => {
  const connection = await anActiveConnection(party)
  const { id: transferId } = await party.caller.expect(party.caller.call('startTransfer', { ...connection, body: {} }))
  return { ...connection, transferId }
}
const anEndedTransfer = async (party: Party) => {
  const connection = await anActiveConnection(party)
  return { ...connection, transferId: await addEndedTransfer(party.service, party.caller, connection) }
}
/** A configuration of HTTP API whose definition erases. No server is there, so the answer says why nothing is known. */
const anErasingDestination = async ({ caller }: Party) => {
  const { id: accountId } = await caller.addAccount()
  await caller.addConnectors(accountId, httpApi)
  const secretConfig = { url: 'http://127.0.0.1:1', definition: 'erasure: { email: { path: /a } }' }
  await caller.expect(caller.call('configureConnector', { accountId, id: httpApi.id, body: { secretConfig } }))
  return { accountId }
}
const aSchedule = async (party: Party) => {
  const connection = await anActiveConnection(party)
  await party.caller.expect(party.caller.call('setSchedule', { ...connection, body: { cron: '0 6 * * *' } }))
  return connection
}
const aTrigger = async (party: Party) => {
  const connection = await anActiveConnection(party)
  const { id } = await party.caller.expect(party.caller.call('createTrigger', { ...connection, body: { name: 'Job' } }))
  return { connection, trigger: { accountId: connection.accountId, id } }
}
const aStream = async ({ caller }: Party) => {
  const { id: accountId } = await caller.addAccount()
  return { accountId, id: await addStream(caller, accountId) }
}
const aStreamWithKey = async (party: Party) => {
  const stream = await aStream(party)
  await party.caller.expect(party.caller.call('createStreamKey', stream))
  return stream
}
/** The rule is created in a separate sub-account, so that a caller who is limited to it can see it. */
const anAlertRule = async ({ caller }: Party) => {
  const { id: accountId } = await caller.addAccount()
  const body = {
    name: 'Failures',
    accountId,
    conditions: { transferFailed: true },
    slackUrl: 'https://hooks.example.com/secret-of-slack',
  }
  return { id: (await caller.expect(caller.call('createAlertRule', { body }))).id }
}
const anIncident = async (party: Party) => {
  const { accountId } = await anEndedTransfer(party)
  return { accountId, ...(await addIncident(party.service, party.caller, accountId)) }
}
const anUpload = async ({ caller }: Party) => {
  const { id: accountId } = await caller.addAccount()
  const query = { name: 'people.csv' }
  const { id } = await caller.expect(caller.call('createUpload', { accountId, query, body: anyFile }))
  return { accountId, id }
}
const aSample = async (party: Party) => {
  const { accountId, id: uploadId } = await anUpload(party)
  await party.caller.expect(party.caller.call('createSample', { accountId, body: { uploadId } }))
  return { accountId }
}
const aClient = async ({ caller }: Party) => {
  const { id } = await caller.expect(caller.call('createClient', { body: { name: 'Key', scopes: ['accounts:read'] } }))
  return { id }
}
/** Nothing listens there. */
const receiver = 'http://127.0.0.1:1/'
const aWebhook = async ({ caller }: Party) => {
  const { id } = await caller.expect(caller.call('createWebhook', { body: { url: receiver } }))
  return { id }
}
const aDelivery = async (party: Party) => party.caller.expect(party.caller.call('testWebhook', await aWebhook(party)))
const aUser = async ({ service, organization }: Party) => ({ id: (await invite(service, organization)).id })
/** A call in a separate session, which it can end. */
const inAnotherSession = async ({ service, person }: Party) => ({
  headers: { ...(await signInAgain(service, person)).headers },
})
const aConnectLink = async ({ caller }: Party) => createLink(caller, (await caller.addAccountWithSides()).id)
const oneConnectLink = async (party: Party) => ({ id: (await aConnectLink(party)).id })
const aPasswordReset = async ({ service, organization }: Party) => {
  const { id } = await addPerson(service, organization)
  const token = await addResetLink(service, id)
  return { body: { token, newPassword: 'another sentence of its own kind' } }
}
/** An owner has a passkey, and a password is enough until the call. */
const anOwnerWithPasskey = async ({ service, organization }: Party) => {
  const { organizationId } = organization
  await service.database.pool.query('update organizations set second_factor_required = false where id = $1', [
    organizationId,
  ])
  await addPasskey(service, await addPerson(service, organization, { role: 'owner' }))
  return { body: { secondFactorRequired: true } }
}
const aDeletedConnection = async (party: Party) => {
  const connection = await aConnection(party)
  await party.caller.expect(party.caller.call('deleteConnection', connection))
  return connection
}

const aPurpose = {
  name: 'advertising',
  signals: [{ kind: 'values' as const, column: 'opt_in', values: ['yes'] }],
  uses: ['userData' as const],
}

export const scenarios: { readonly [I in OperationId]: Scenario } = {
  createToken: {
    request: 'POST /oauth/client-token',
    status: 200,
    reply: shapes.token,
    bare: true,
    acts: 'for anyone',
    prepare: async ({ organization: { clientId, clientSecret } }) => ({ body: { clientId, clientSecret } }),
  },

  listConnectors: {
    request: 'GET /connectors',
    status: 200,
    reply: [shapes.catalogueEntry],
    acts: 'in a sub-account',
    prepare: inAccount,
  },
  addConnectors: {
    request: 'POST /connectors',
    status: 200,
    reply: [shapes.addedConnector],
    acts: 'in a sub-account',
    prepare: async ({ caller }) => ({
      accountId: (await caller.addAccount()).id,
      body: { connectorIds: [source.id, destination.id] },
    }),
  },
  listAddedConnectors: {
    request: 'GET /connectors/added',
    status: 200,
    reply: [shapes.addedConnector],
    acts: 'in a sub-account',
    prepare: inAccount,
  },
  listSupportedConnectors: {
    request: 'GET /connectors/supported',
    status: 200,
    reply: [shapes.supportedConnector],
    acts: 'in a sub-account',
    prepare: async (party) => ({ ...(await inAccount(party)), query: { srcConnectorId: source.id } }),
  },
  getConnector: {
    request: 'GET /connectors/{id}',
    status: 200,
    reply: shapes.connector,
    acts: 'in a sub-account',
    etag: true,
    prepare: aConnector,
  },
  listConnectorConfigurations: {
    request: 'GET /connectors/configurations',
    status: 200,
    reply: [shapes.savedValues],
    acts: 'in either',
    prepare: async (party) => ({ accountId: (await aConnector(party)).accountId }),
  },
  getConnectorConfiguration: {
    request: 'GET /connectors/{id}/configuration',
    status: 200,
    reply: shapes.connectorConfiguration,
    acts: 'in a sub-account',
    etag: true,
    prepare: async (party) => ({ ...(await aConnector(party)), id: destination.id }),
  },
  getConnectorDefinition: {
    request: 'GET /connectors/{id}/definition',
    status: 200,
    reply: shapes.connectorDefinition,
    acts: 'in the organization',
    prepare: async () => ({ id: destination.id }),
  },
  listConnectorWords: {
    request: 'GET /connectors/words',
    status: 200,
    reply: [shapes.connectorWords],
    acts: 'in the organization',
    prepare: async () => ({}),
  },
  configureConnector: {
    request: 'PUT /connectors/{id}/configuration',
    status: 200,
    reply: shapes.savedConfiguration,
    acts: 'in a sub-account',
    changes: 'getConnectorConfiguration',
    prepare: async (party) => ({ ...(await aConnector(party)), body: { secretConfig: sourceSecrets } }),
  },
  createConnectorConfiguration: {
    request: 'POST /connectors/{id}/configurations',
    status: 201,
    reply: shapes.savedConfiguration,
    acts: 'in a sub-account',
    prepare: async (party) => ({
      ...(await aConnector(party)),
      body: { name: 'Second', secretConfig: sourceSecrets },
    }),
  },
  deleteConnectorConfiguration: {
    request: 'DELETE /connectors/{id}/configuration',
    status: 200,
    reply: shapes.savedConfiguration,
    acts: 'in a sub-account',
    changes: 'getConnectorConfiguration',
    prepare: aSecondConfiguration,
  },
  removeConnector: {
    request: 'DELETE /connectors/{id}',
    status: 200,
    reply: shapes.addedConnector,
    acts: 'in a sub-account',
    changes: 'getConnectorConfiguration',
    prepare: aConnector,
  },

  getAccount: {
    request: 'GET /accounts/{id}',
    status: 200,
    reply: shapes.account,
    acts: 'in the organization',
    etag: true,
    prepare: anAccount,
  },
  listAccounts: {
    request: 'GET /accounts',
    status: 200,
    reply: [shapes.accountEntry],
    acts: 'in the organization',
    prepare: async (party) => {
      await anAccount(party)
      return {}
    },
  },
  listAccountFigures: {
    request: 'GET /accounts/figures',
    status: 200,
    reply: [shapes.accountFigures],
    acts: 'in the organization',
    prepare: async (party) => {
      await anAccount(party)
      return {}
    },
  },
  getUsage: {
    request: 'GET /organization/usage',
    status: 200,
    reply: shapes.usage,
    acts: 'in the organization',
    prepare: async () => ({}),
  },
  addAccount: {
    request: 'POST /accounts',
    status: 201,
    reply: shapes.account,
    acts: 'in the organization',
    prepare: async () => ({ body: { name: 'Added' } }),
  },
  editAccount: {
    request: 'PUT /accounts/{id}',
    status: 200,
    reply: shapes.account,
    acts: 'in the organization',
    changes: 'getAccount',
    prepare: async (party) => ({ ...(await anAccount(party)), body: { name: 'Edited', enabled: false } }),
  },
  deleteAccount: {
    request: 'DELETE /accounts/{id}',
    status: 200,
    reply: shapes.account,
    acts: 'in the organization',
    changes: 'getAccount',
    prepare: anAccount,
  },

  listConnections: {
    request: 'GET /connections',
    status: 200,
    reply: [shapes.connection],
    acts: 'in either',
    prepare: async (party) => ({ accountId: (await aConnection(party)).accountId }),
  },
  listConnectionDetails: {
    request: 'GET /connections/details',
    status: 200,
    reply: [shapes.connectionWithSettings],
    acts: 'in either',
    prepare: async (party) => ({ accountId: (await aConnection(party)).accountId }),
  },
  listConnectionLabels: {
    request: 'GET /connections/labels',
    status: 200,
    reply: [shapes.connectionLabels],
    acts: 'in either',
    prepare: async (party) => ({ accountId: (await aLabelledConnection(party)).accountId }),
  },
  listConnectionTags: {
    request: 'GET /connections/tags',
    status: 200,
    reply: [shapes.connectionTag],
    acts: 'in either',
    prepare: async (party) => ({ accountId: (await aLabelledConnection(party)).accountId }),
  },
  getConnectionLabels: {
    request: 'GET /connections/{id}/labels',
    status: 200,
    reply: shapes.connectionLabels,
    acts: 'in a sub-account',
    prepare: (party) => aLabelledConnection(party),
  },
  setConnectionLabels: {
    request: 'PUT /connections/{id}/labels',
    status: 200,
    reply: shapes.connectionLabels,
    acts: 'in a sub-account',
    prepare: async (party) => ({ ...(await aConnection(party)), body: { tags: ['production'], ownerEmail: null } }),
  },
  listSavedFilters: {
    request: 'GET /saved-filters',
    status: 200,
    reply: [shapes.savedFilter],
    acts: 'in the organization',
    prepare: async (party) => {
      await aSavedFilter(party)
      return {}
    },
  },
  createSavedFilter: {
    request: 'POST /saved-filters',
    status: 201,
    reply: shapes.savedFilter,
    acts: 'in the organization',
    prepare: async () => ({ body: { name: 'Production', query: 'tags=production', shared: true } }),
  },
  updateSavedFilter: {
    request: 'PUT /saved-filters/{id}',
    status: 200,
    reply: shapes.savedFilter,
    acts: 'in the organization',
    prepare: async (party) => ({ ...(await aSavedFilter(party)), body: { name: 'Renamed' } }),
  },
  deleteSavedFilter: {
    request: 'DELETE /saved-filters/{id}',
    status: 200,
    reply: shapes.done,
    acts: 'in the organization',
    prepare: aSavedFilter,
  },
  listMappingTemplates: {
    request: 'GET /mapping-templates',
    status: 200,
    reply: [shapes.mappingTemplate],
    acts: 'in either',
    prepare: async (party) => {
      await aMappingTemplate(party)
      return {}
    },
  },
  createMappingTemplate: {
    request: 'POST /mapping-templates',
    status: 201,
    reply: shapes.mappingTemplateDetails,
    acts: 'in the organization',
    prepare: async ({ caller }) => ({
      body: {
        name: 'People',
        accountId: (await caller.addAccount()).id,
        destConnectorId: audiences.id,
        srcConnectorId: source.id,
        mapping: '{"email_sha256": "E-mail", "action": {"value": "add"}}',
      },
    }),
  },
  getMappingTemplate: {
    request: 'GET /mapping-templates/{id}',
    status: 200,
    reply: shapes.mappingTemplateDetails,
    acts: 'in the organization',
    etag: true,
    prepare: aMappingTemplate,
  },
  updateMappingTemplate: {
    request: 'PUT /mapping-templates/{id}',
    status: 200,
    reply: shapes.mappingTemplateDetails,
    acts: 'in the organization',
    changes: 'getMappingTemplate',
    prepare: async (party) => ({
      ...(await aMappingTemplate(party)),
      body: { name: 'Renamed', mapping: '{"phone_sha256": "Mobile"}' },
    }),
  },
  deleteMappingTemplate: {
    request: 'DELETE /mapping-templates/{id}',
    status: 200,
    reply: shapes.mappingTemplateDetails,
    acts: 'in the organization',
    changes: 'getMappingTemplate',
    prepare: aMappingTemplate,
  },
  applyMappingTemplate: {
    request: 'POST /mapping-templates/{id}/apply',
    status: 200,
    reply: shapes.appliedMappingTemplate,
    acts: 'in the organization',
    prepare: async (party) => ({ ...(await aMappingTemplate(party)), body: { columns: ['Name', 'E-mail address'] } }),
  },
  createConnection: {
    request: 'POST /connections',
    status: 201,
    reply: shapes.connection,
    acts: 'in a sub-account',
    prepare: async (party) => ({
      ...(await inAccount(party)),
      body: {
        name: 'Created',
        srcConnectorId: source.id,
        destConnectorId: destination.id,
        srcConnectionConfig: sourceSettings,
        destConnectionConfig: destinationSettings,
      },
    }),
  },
  updateConnection: {
    request: 'PUT /connections/{id}',
    status: 200,
    reply: shapes.updatedConnection,
    acts: 'in a sub-account',
    changes: 'getConnection',
    prepare: async (party) => ({ ...(await aConnection(party)), body: { name: 'Updated' } }),
  },
  updateConnectionStatus: {
    request: 'PUT /connections/{id}/status',
    status: 200,
    reply: shapes.connection,
    acts: 'in a sub-account',
    changes: 'getConnection',
    prepare: async (party) => ({ ...(await aConnection(party)), body: { action: 'activate' } }),
  },
  deleteConnection: {
    request: 'DELETE /connections/{id}',
    status: 200,
    reply: shapes.connection,
    acts: 'in a sub-account',
    changes: 'getConnection',
    prepare: aConnection,
  },
  restoreConnection: {
    request: 'POST /connections/{id}/restore',
    status: 200,
    reply: shapes.connection,
    acts: 'in a sub-account',
    changes: 'getConnection',
    prepare: aDeletedConnection,
  },
  getConnection: {
    request: 'GET /connections/{id}',
    status: 200,
    reply: shapes.connectionDetails,
    acts: 'in a sub-account',
    etag: true,
    prepare: aConnection,
  },

  listConnectionEvents: {
    request: 'GET /connections/{id}/events',
    status: 200,
    reply: [shapes.connectionEvent],
    acts: 'in a sub-account',
    prepare: aSchedule,
  },

  listAttention: {
    request: 'GET /attention',
    status: 200,
    reply: [shapes.attentionEntry],
    acts: 'in either',
    prepare: async (party) => ({ accountId: (await anEndedTransfer(party)).accountId }),
  },
  getConnectorAuthorization: {
    request: 'GET /connectors/{id}/authorization',
    status: 200,
    reply: shapes.connectorAuthorization,
    acts: 'in a sub-account',
    prepare: aConnector,
  },
  authorizeConnector: {
    request: 'POST /connectors/{id}/authorization',
    status: 201,
    reply: shapes.authorizationLink,
    acts: 'in a sub-account',
    prepare: async (party) => {
      const { id: accountId } = await party.caller.addAccount()
      await party.caller.addConnectors(accountId, authorizable)
      await registerApp(party.service, authorizable)
      return { accountId, id: authorizable.id }
    },
  },
  checkConnector: {
    request: 'POST /connectors/{id}/check',
    status: 200,
    reply: shapes.checkResult,
    acts: 'in a sub-account',
    prepare: async (party) => ({ accountId: (await anActiveConnection(party)).accountId, id: localFolder.id }),
  },
  discoverValues: {
    request: 'POST /connectors/{id}/discover',
    status: 200,
    reply: shapes.discovery,
    acts: 'in a sub-account',
    prepare: async (party) => ({
      accountId: (await anActiveConnection(party)).accountId,
      id: localFolder.id,
      body: { field: 'files' },
    }),
  },
  askSource: {
    request: 'POST /connectors/{id}/ask',
    status: 200,
    reply: shapes.sourceAnswer,
    acts: 'in a sub-account',
    prepare: async (party) => {
      const { id: accountId } = await party.caller.addAccount()
      await party.caller.addConnectors(accountId, httpApi)
      // No server exists there, so the answer says why it cannot be reached.
      const secretConfig = { url: 'http://127.0.0.1:1', definition: 'streams: { a: { path: /a } }' }
      return { accountId, id: httpApi.id, body: { settings: { stream: 'a' }, secretConfig } }
    },
  },
  tryDestination: {
    request: 'POST /connectors/{id}/try',
    status: 200,
    reply: shapes.destinationTrial,
    acts: 'in a sub-account',
    prepare: async (party) => {
      const { id: accountId } = await party.caller.addAccount()
      await party.caller.addConnectors(accountId, httpApi)
      // No server is there, so the answer says why nothing was delivered.
      const definition = 'operations: { a: { path: /a, columns: { b: text } } }'
      const secretConfig = { url: 'http://127.0.0.1:1', definition }
      return { accountId, id: httpApi.id, body: { settings: { operation: 'a' }, secretConfig, rows: [{ b: 'c' }] } }
    },
  },
  previewConnection: {
    request: 'POST /connections/{id}/preview',
    status: 200,
    reply: shapes.preview,
    acts: 'in a sub-account',
    prepare: async (party) => ({ ...(await anActiveConnection(party)), body: {} }),
  },
  startTransfer: {
    request: 'POST /connections/{id}/transfers',
    status: 202,
    again: 200,
    reply: shapes.transfer,
    acts: 'in a sub-account',
    prepare: async (party) => ({
      ...(await anActiveConnection(party)),
      body: { srcConnectionConfig: {}, confirm: true },
    }),
  },
  listAllTransfers: {
    request: 'GET /transfers',
    status: 200,
    reply: [shapes.transfer],
    acts: 'in either',
    prepare: async (party) => ({ accountId: (await anEndedTransfer(party)).accountId, query: { latest: true } }),
  },
  listTransfers: {
    request: 'GET /connections/{id}/transfers',
    status: 200,
    reply: [shapes.transfer],
    acts: 'in a sub-account',
    prepare: async (party) => {
      const { transferId: _, ...connection } = await anEndedTransfer(party)
      return connection
    },
  },
  getTransfer: {
    request: 'GET /connections/{id}/transfers/{transferId}',
    status: 200,
    reply: shapes.transfer,
    acts: 'in a sub-account',
    prepare: anEndedTransfer,
  },
  cancelTransfer: {
    request: 'POST /connections/{id}/transfers/{transferId}/cancel',
    status: 200,
    reply: shapes.transfer,
    acts: 'in a sub-account',
    prepare: aQueuedTransfer,
  },
  listTransferLog: {
    request: 'GET /connections/{id}/transfers/{transferId}/log',
    status: 200,
    reply: [shapes.transferLogLine],
    acts: 'in a sub-account',
    prepare: anEndedTransfer,
  },
  listTransferParts: {
    request: 'GET /connections/{id}/transfers/{transferId}/parts',
    status: 200,
    reply: [shapes.transferPart],
    acts: 'in a sub-account',
    prepare: async (party) => {
      const ended = await anEndedTransfer(party)
      await addParts(party.service, ended.transferId, 2)
      return ended
    },
  },
  listRejects: {
    request: 'GET /connections/{id}/transfers/{transferId}/rejects',
    status: 200,
    reply: [shapes.reject],
    acts: 'in a sub-account',
    prepare: anEndedTransfer,
  },
  editRejects: {
    request: 'PUT /connections/{id}/transfers/{transferId}/rejects',
    status: 200,
    reply: shapes.editedRejects,
    acts: 'in a sub-account',
    prepare: async (party) => ({
      ...(await anEndedTransfer(party)),
      body: { edits: [{ number: 1, record: { email: 'corrected@example.com' } }] },
    }),
  },
  findDataSubject: {
    request: 'POST /data-subjects/find',
    status: 200,
    reply: shapes.foundDataSubject,
    acts: 'in either',
    prepare: async (party) => ({
      accountId: (await anEndedTransfer(party)).accountId,
      body: { values: ['jane.doe@example.com'] },
    }),
  },
  eraseDataSubject: {
    request: 'POST /data-subjects/erase',
    status: 200,
    reply: shapes.erasedDataSubject,
    acts: 'in either',
    prepare: async (party) => ({
      accountId: (await anEndedTransfer(party)).accountId,
      body: { values: ['jane.doe@example.com'] },
    }),
  },
  listErasureDestinations: {
    request: 'GET /data-subjects/destinations',
    status: 200,
    reply: [shapes.erasureDestination],
    acts: 'in a sub-account',
    prepare: anErasingDestination,
  },
  eraseAtDestination: {
    request: 'POST /connectors/{id}/erase',
    status: 200,
    reply: shapes.erasedAtDestination,
    acts: 'in a sub-account',
    prepare: async (party) => ({
      ...(await anErasingDestination(party)),
      id: httpApi.id,
      body: { identifiers: [{ kind: 'email', value: 'jane.doe@example.com' }] },
    }),
  },
  getReplayable: {
    request: 'GET /connections/{id}/transfers/{transferId}/replay',
    status: 200,
    reply: shapes.replayable,
    acts: 'in a sub-account',
    prepare: anEndedTransfer,
  },
  replayTransfer: {
    request: 'POST /connections/{id}/transfers/{transferId}/replay',
    status: 202,
    again: 200,
    reply: { ...shapes.transfer, rejects: shapes.replayable },
    acts: 'in a sub-account',
    prepare: anEndedTransfer,
  },
  retryTransfer: {
    request: 'POST /connections/{id}/transfers/{transferId}/retry',
    status: 202,
    again: 200,
    reply: shapes.transfer,
    acts: 'in a sub-account',
    prepare: async (party) => {
      const ended = await anEndedTransfer(party)
      await failPart(party.service, ended.transferId)
      return ended
    },
  },
  listSchedules: {
    request: 'GET /schedules',
    status: 200,
    reply: [shapes.scheduleEntry],
    acts: 'in either',
    prepare: async (party) => ({ accountId: (await aSchedule(party)).accountId }),
  },
  getSchedule: {
    request: 'GET /connections/{id}/schedule',
    status: 200,
    reply: shapes.schedule,
    acts: 'in a sub-account',
    prepare: aSchedule,
  },
  setSchedule: {
    request: 'PUT /connections/{id}/schedule',
    status: 200,
    reply: shapes.schedule,
    acts: 'in a sub-account',
    prepare: async (party) => ({
      ...(await anActiveConnection(party)),
      body: { cron: '*/5 8-18 * * 1-5', timezone: 'Europe/Berlin', enabled: false },
    }),
  },
  getDrift: {
    request: 'GET /connections/{id}/drift',
    status: 200,
    reply: shapes.drift,
    acts: 'in a sub-account',
    prepare: anActiveConnection,
  },
  setDrift: {
    request: 'PUT /connections/{id}/drift',
    status: 200,
    reply: shapes.drift,
    acts: 'in a sub-account',
    prepare: async (party) => ({ ...(await anActiveConnection(party)), body: { drift: 'stop', accept: true } }),
  },
  listConnectionTables: {
    request: 'GET /connections/{id}/tables',
    status: 200,
    reply: [shapes.connectionTable],
    acts: 'in a sub-account',
    prepare: aConnectionOfTables,
  },
  setConnectionTables: {
    request: 'PUT /connections/{id}/tables',
    status: 200,
    reply: shapes.connectionTables,
    acts: 'in a sub-account',
    prepare: async (party) => ({
      ...(await aConnectionOfTables(party)),
      body: { tables: ['shop.t001', 'shop.t002'], paused: true },
    }),
  },
  getConnectionRules: {
    request: 'GET /connections/{id}/rules',
    status: 200,
    reply: shapes.connectionRules,
    acts: 'in a sub-account',
    prepare: anActiveConnection,
  },
  setConnectionRules: {
    request: 'PUT /connections/{id}/rules',
    status: 200,
    reply: shapes.connectionRules,
    acts: 'in a sub-account',
    prepare: async (party) => ({
      ...(await anActiveConnection(party)),
      body: { rules: [{ check: 'rejected', action: 'stop', percent: 5 }] },
    }),
  },
  getRunConditions: {
    request: 'GET /connections/{id}/run-conditions',
    status: 200,
    reply: shapes.runConditions,
    acts: 'in a sub-account',
    prepare: anActiveConnection,
  },
  setRunConditions: {
    request: 'PUT /connections/{id}/run-conditions',
    status: 200,
    reply: shapes.runConditions,
    acts: 'in a sub-account',
    prepare: async (party) => {
      const connection = await anActiveConnection(party)
      const { accountId } = connection
      const upstream = await addConnection(party.caller, accountId, 'Upstream')
      const groups = [{ name: 'warehouse', transfersMax: 2 }]
      await party.caller.expect(party.caller.call('setTransferGroups', { accountId, body: { groups } }))
      return { ...connection, body: { runAfter: [upstream.id], group: 'warehouse' } }
    },
  },
  listPurposes: {
    request: 'GET /purposes',
    status: 200,
    reply: [shapes.purpose],
    acts: 'in either',
    prepare: async ({ caller }) => {
      const { id: accountId } = await caller.addAccount()
      await caller.expect(caller.call('setPurposes', { accountId, body: { purposes: [aPurpose] } }))
      return { accountId }
    },
  },
  setPurposes: {
    request: 'PUT /purposes',
    status: 200,
    reply: { purposes: [shapes.purpose] },
    acts: 'in a sub-account',
    prepare: async ({ caller }) => ({
      accountId: (await caller.addAccount()).id,
      body: { purposes: [aPurpose] },
    }),
  },
  listTransferGroups: {
    request: 'GET /transfer-groups',
    status: 200,
    reply: [shapes.transferGroup],
    acts: 'in either',
    prepare: async ({ caller }) => {
      const { id: accountId } = await caller.addAccount()
      const body = { groups: [{ name: 'warehouse', transfersMax: 2 }] }
      await caller.expect(caller.call('setTransferGroups', { accountId, body }))
      return { accountId }
    },
  },
  setTransferGroups: {
    request: 'PUT /transfer-groups',
    status: 200,
    reply: { groups: [shapes.transferGroup] },
    acts: 'in a sub-account',
    prepare: async ({ caller }) => ({
      accountId: (await caller.addAccount()).id,
      body: { groups: [{ name: 'warehouse', transfersMax: 2 }] },
    }),
  },
  listTriggers: {
    request: 'GET /connections/{id}/triggers',
    status: 200,
    reply: [shapes.trigger],
    acts: 'in a sub-account',
    prepare: async (party) => (await aTrigger(party)).connection,
  },
  createTrigger: {
    request: 'POST /connections/{id}/triggers',
    status: 201,
    reply: { ...shapes.trigger, url: 'string' },
    acts: 'in a sub-account',
    prepare: async (party) => ({
      ...(await anActiveConnection(party)),
      body: { name: 'dbt', dbtCloudSecret: 'dbtc_0123456789' },
    }),
  },
  deleteTrigger: {
    request: 'DELETE /triggers/{id}',
    status: 200,
    reply: shapes.trigger,
    acts: 'in a sub-account',
    prepare: async (party) => (await aTrigger(party)).trigger,
  },
  getStream: {
    request: 'GET /streams/{id}',
    status: 200,
    reply: shapes.stream,
    acts: 'in a sub-account',
    prepare: aStream,
  },
  getStreamEvents: {
    request: 'GET /streams/{id}/events',
    status: 200,
    reply: shapes.streamEvents,
    acts: 'in a sub-account',
    prepare: async (party) => ({ ...(await aStream(party)), query: { size: '5', view: '0123456789abcdef' } }),
  },
  sendTestEvent: {
    request: 'POST /streams/{id}/test',
    status: 201,
    reply: { id: 'string', messageId: 'string' },
    acts: 'in a sub-account',
    prepare: aStreamWithKey,
  },
  createStreamKey: {
    request: 'POST /streams/{id}/keys',
    status: 201,
    reply: { ...shapes.streamKey, key: 'string' },
    acts: 'in a sub-account',
    prepare: aStream,
  },
  deleteStreamKey: {
    request: 'DELETE /stream-keys/{id}',
    status: 200,
    reply: shapes.streamKey,
    acts: 'in a sub-account',
    prepare: async (party) => {
      const stream = await aStream(party)
      const { id } = await party.caller.expect(party.caller.call('createStreamKey', stream))
      return { accountId: stream.accountId, id }
    },
  },
  getConnectionState: {
    request: 'GET /connections/{id}/state',
    status: 200,
    reply: shapes.connectionState,
    acts: 'in a sub-account',
    prepare: anActiveConnection,
  },
  resetConnectionState: {
    request: 'POST /connections/{id}/state/reset',
    status: 200,
    reply: shapes.connectionState,
    acts: 'in a sub-account',
    prepare: async (party) => ({ ...(await anActiveConnection(party)), body: { cursor: true, rows: true } }),
  },
  deleteSchedule: {
    request: 'DELETE /connections/{id}/schedule',
    status: 200,
    reply: shapes.schedule,
    acts: 'in a sub-account',
    prepare: aSchedule,
  },

  reportAccounts: {
    request: 'GET /reports/accounts',
    status: 200,
    reply: [shapes.accountReport],
    acts: 'in the organization',
    prepare: async (party) => {
      await anEndedTransfer(party)
      return {}
    },
  },
  reportConnections: {
    request: 'GET /reports/connections',
    status: 200,
    reply: [shapes.connectionReport],
    acts: 'in a sub-account',
    prepare: async (party) => ({ accountId: (await anEndedTransfer(party)).accountId }),
  },
  reportAudiences: {
    request: 'GET /reports/audiences',
    status: 200,
    reply: [shapes.audienceReport],
    acts: 'in a sub-account',
    prepare: async (party) => {
      const { accountId, id } = await anActiveConnection(party)
      const due = "insert into audience_checks (connection_id, next_time) values ($1, now() + interval '1 hour')"
      await party.service.database.pool.query(due, [id])
      return { accountId }
    },
  },

  listAlertRules: {
    request: 'GET /alert-rules',
    status: 200,
    reply: [shapes.alertRule],
    acts: 'in either',
    prepare: async (party) => {
      await anAlertRule(party)
      return {}
    },
  },
  createAlertRule: {
    request: 'POST /alert-rules',
    status: 201,
    reply: shapes.alertRule,
    acts: 'in the organization',
    prepare: async ({ caller }) => ({
      body: {
        name: 'Failures',
        accountId: (await caller.addAccount()).id,
        conditions: { transferFailed: true, noSuccessHours: 26 },
        emailRoles: ['owner'],
        slackUrl: 'https://hooks.example.com/secret-of-slack',
      },
    }),
  },
  getAlertRule: {
    request: 'GET /alert-rules/{id}',
    status: 200,
    reply: shapes.alertRule,
    acts: 'in the organization',
    etag: true,
    prepare: anAlertRule,
  },
  updateAlertRule: {
    request: 'PUT /alert-rules/{id}',
    status: 200,
    reply: shapes.alertRule,
    acts: 'in the organization',
    changes: 'getAlertRule',
    prepare: async (party) => ({
      ...(await anAlertRule(party)),
      body: { name: 'Renamed', enabled: false, teamsUrl: 'https://teams.example.com/secret-of-teams' },
    }),
  },
  deleteAlertRule: {
    request: 'DELETE /alert-rules/{id}',
    status: 200,
    reply: shapes.done,
    acts: 'in the organization',
    changes: 'getAlertRule',
    prepare: anAlertRule,
  },
  muteAlertRule: {
    request: 'PUT /alert-rules/{id}/mute',
    status: 200,
    reply: shapes.alertRule,
    acts: 'in the organization',
    changes: 'getAlertRule',
    prepare: async (party) => ({
      ...(await anAlertRule(party)),
      body: { until: Math.floor(Date.now() / 1_000) + 3_600 },
    }),
  },
  testAlertRule: {
    request: 'POST /alert-rules/{id}/test',
    status: 202,
    reply: { queued: 'integer' },
    acts: 'in the organization',
    prepare: anAlertRule,
  },
  listAlertIncidents: {
    request: 'GET /alert-incidents',
    status: 200,
    reply: [shapes.alertIncident],
    acts: 'in either',
    prepare: async (party) => {
      await anIncident(party)
      return {}
    },
  },
  getAlertIncident: {
    request: 'GET /alert-incidents/{id}',
    status: 200,
    reply: shapes.alertIncident,
    acts: 'in the organization',
    prepare: async (party) => ({ id: (await anIncident(party)).incidentId }),
  },
  acknowledgeAlertIncident: {
    request: 'POST /alert-incidents/{id}/acknowledge',
    status: 200,
    reply: shapes.alertIncident,
    acts: 'in the organization',
    prepare: async (party) => ({ id: (await anIncident(party)).incidentId }),
  },

  listUploads: {
    request: 'GET /uploads',
    status: 200,
    reply: [shapes.upload],
    acts: 'in a sub-account',
    prepare: async (party) => ({ accountId: (await anUpload(party)).accountId }),
  },
  createUpload: {
    request: 'POST /uploads',
    status: 201,
    reply: shapes.upload,
    acts: 'in a sub-account',
    prepare: async ({ caller }) => ({
      accountId: (await caller.addAccount()).id,
      query: { name: 'people.csv' },
      body: anyFile,
    }),
  },
  getUpload: {
    request: 'GET /uploads/{id}',
    status: 200,
    reply: shapes.upload,
    acts: 'in a sub-account',
    prepare: anUpload,
  },
  deleteUpload: {
    request: 'DELETE /uploads/{id}',
    status: 200,
    reply: shapes.done,
    acts: 'in a sub-account',
    prepare: anUpload,
  },

  getSample: {
    request: 'GET /sample',
    status: 200,
    reply: shapes.sample,
    acts: 'in either',
    prepare: async ({ caller }) => ({ accountId: (await caller.addAccount()).id }),
  },
  createSample: {
    request: 'POST /sample',
    status: 201,
    reply: shapes.sample,
    acts: 'in a sub-account',
    prepare: async (party) => {
      const { accountId, id: uploadId } = await anUpload(party)
      return { accountId, body: { uploadId } }
    },
  },
  deleteSample: {
    request: 'DELETE /sample',
    status: 200,
    reply: shapes.done,
    acts: 'in a sub-account',
    prepare: aSample,
  },
  previewSample: {
    request: 'POST /sample/preview',
    status: 200,
    reply: shapes.preview,
    acts: 'in a sub-account',
    prepare: aSample,
  },

  listClients: {
    request: 'GET /clients',
    status: 200,
    reply: [shapes.client],
    acts: 'in the organization',
    prepare: async (party) => {
      await aClient(party)
      return {}
    },
  },
  getClient: {
    request: 'GET /clients/{id}',
    status: 200,
    reply: shapes.client,
    acts: 'in the organization',
    prepare: aClient,
  },
  createClient: {
    request: 'POST /clients',
    status: 201,
    reply: shapes.clientWithSecret,
    acts: 'in the organization',
    prepare: async ({ caller }) => ({
      body: { name: 'Key', scopes: ['accounts:read'], accountIds: [(await caller.addAccount()).id] },
    }),
  },
  renameClient: {
    request: 'PUT /clients/{id}',
    status: 200,
    reply: shapes.client,
    acts: 'in the organization',
    prepare: async (party) => ({ ...(await aClient(party)), body: { name: 'Renamed' } }),
  },
  rotateClient: {
    request: 'POST /clients/{id}/rotate',
    status: 200,
    reply: shapes.clientWithSecret,
    acts: 'in the organization',
    prepare: async (party) => ({ ...(await aClient(party)), body: {} }),
  },
  revokeClient: {
    request: 'DELETE /clients/{id}',
    status: 200,
    reply: shapes.client,
    acts: 'in the organization',
    prepare: aClient,
  },
  createSession: {
    request: 'POST /sessions',
    status: 201,
    reply: shapes.sessionToken,
    acts: 'in the organization',
    prepare: async ({ caller }) => ({
      body: { accountId: (await caller.addAccount()).id, scopes: ['connections:read'] },
    }),
  },

  createConnectLink: {
    request: 'POST /connect-links',
    status: 201,
    reply: { ...shapes.connectLink, url: 'string' },
    acts: 'in the organization',
    prepare: async ({ caller }) => ({
      body: { accountId: (await caller.addAccountWithSides()).id, connectorIds: [source.id] },
    }),
  },
  listConnectLinks: {
    request: 'GET /connect-links',
    status: 200,
    reply: [shapes.connectLink],
    acts: 'in either',
    prepare: async (party) => ({ accountId: (await aConnectLink(party)).accountId }),
  },
  getConnectLink: {
    request: 'GET /connect-links/{id}',
    status: 200,
    reply: shapes.connectLink,
    acts: 'in the organization',
    prepare: oneConnectLink,
  },
  revokeConnectLink: {
    request: 'DELETE /connect-links/{id}',
    status: 200,
    reply: shapes.connectLink,
    acts: 'in the organization',
    prepare: oneConnectLink,
  },
  getConnectPage: {
    request: 'POST /connect-page/get',
    status: 200,
    reply: shapes.connectPage,
    acts: 'for anyone',
    prepare: async (party) => ({ body: { token: tokenOf(await aConnectLink(party)) } }),
  },
  openConnectPage: {
    request: 'POST /connect-page/open',
    status: 200,
    reply: { accessToken: 'string', expiresTime: 'integer' },
    acts: 'for anyone',
    prepare: async (party) => ({ body: { token: tokenOf(await aConnectLink(party)) } }),
  },
  finishConnectPage: {
    request: 'POST /connect-page/finish',
    status: 200,
    reply: {
      id: 'string',
      status: 'string',
      connectionId: ['string', null],
      connectionStatus: ['string', null],
      redirectUrl: ['string', null],
    },
    acts: 'for anyone',
    prepare: async (party) => ({
      body: { token: await openLink(party.service, await aConnectLink(party)), outcome: 'cancelled' },
    }),
  },
  getBranding: {
    request: 'GET /organization/branding',
    status: 200,
    reply: shapes.branding,
    acts: 'in the organization',
    prepare: async () => ({}),
  },
  setBranding: {
    request: 'PUT /organization/branding',
    status: 200,
    reply: shapes.branding,
    acts: 'in the organization',
    prepare: async () => ({ body: { name: newEmail() } }),
  },

  signIn: {
    request: 'POST /sign-in',
    status: 200,
    reply: shapes.me,
    acts: 'for anyone',
    prepare: async ({ person: { email, password } }) => ({ body: { email, password } }),
  },
  signOut: {
    request: 'POST /sign-out',
    status: 200,
    reply: shapes.done,
    acts: 'in the organization',
    prepare: inAnotherSession,
  },
  getMe: {
    request: 'GET /me',
    status: 200,
    reply: shapes.me,
    acts: 'in the organization',
    prepare: async () => ({}),
  },
  updateMe: {
    request: 'PUT /me',
    status: 200,
    reply: shapes.me,
    acts: 'in the organization',
    prepare: async () => ({ body: { name: 'Renamed' } }),
  },
  changePassword: {
    request: 'PUT /me/password',
    status: 200,
    reply: shapes.me,
    acts: 'in the organization',
    prepare: async ({ service, organization }) => {
      const { headers, password } = await addPerson(service, organization)
      return { headers: { ...headers }, body: { currentPassword: password, newPassword: `${goodPassword} at all` } }
    },
  },
  listMySessions: {
    request: 'GET /me/sessions',
    status: 200,
    reply: [shapes.userSession],
    acts: 'in the organization',
    prepare: async () => ({}),
  },
  endMySession: {
    request: 'DELETE /me/sessions/{id}',
    status: 200,
    reply: shapes.done,
    acts: 'in the organization',
    prepare: async ({ service, person }) => {
      const { headers } = await signInAgain(service, person)
      const { response } = await service.call('listMySessions', { headers: { ...headers } })
      return { id: response.find(({ current }) => current)?.id ?? '' }
    },
  },
  endMySessions: {
    request: 'POST /me/sign-out-everywhere',
    status: 200,
    reply: shapes.done,
    acts: 'in the organization',
    prepare: async ({ service, organization }) => ({
      headers: { ...(await addPerson(service, organization)).headers },
    }),
  },
  startPasskeyRegistration: {
    request: 'POST /me/passkeys/options',
    status: 200,
    reply: shapes.passkeyRegistration,
    acts: 'in the organization',
    prepare: async () => ({}),
  },
  registerPasskey: {
    request: 'POST /me/passkeys',
    status: 201,
    reply: shapes.passkey,
    acts: 'in the organization',
    prepare: async ({ service, person }) => ({ body: (await preparePasskey(service, person)).body }),
  },
  listMyPasskeys: {
    request: 'GET /me/passkeys',
    status: 200,
    reply: [shapes.passkey],
    acts: 'in the organization',
    prepare: async ({ service, person }) => {
      await addPasskey(service, person)
      return {}
    },
  },
  removePasskey: {
    request: 'DELETE /me/passkeys/{id}',
    status: 200,
    reply: shapes.done,
    acts: 'in the organization',
    prepare: async ({ service, person }) => ({ id: (await addPasskey(service, person)).id }),
  },
  startPasskeySignIn: {
    request: 'POST /sign-in/passkey/options',
    status: 200,
    reply: shapes.passkeySignIn,
    acts: 'for anyone',
    prepare: async () => ({}),
  },
  signInWithPasskey: {
    request: 'POST /sign-in/passkey',
    status: 200,
    reply: shapes.me,
    acts: 'for anyone',
    prepare: async ({ service, person }) => ({
      body: await preparePasskeySignIn(service, (await addPasskey(service, person)).credential),
    }),
  },
  listUsers: {
    request: 'GET /users',
    status: 200,
    reply: [shapes.user],
    acts: 'in the organization',
    prepare: async (party) => {
      await aUser(party)
      return {}
    },
  },
  getUser: {
    request: 'GET /users/{id}',
    status: 200,
    reply: shapes.user,
    acts: 'in the organization',
    prepare: aUser,
  },
  inviteUser: {
    request: 'POST /users',
    status: 201,
    reply: shapes.invitedUser,
    acts: 'in the organization',
    prepare: async ({ caller }) => ({
      body: { email: newEmail(), name: 'Ada', role: 'editor', accountIds: [(await caller.addAccount()).id] },
    }),
  },
  resendInvitation: {
    request: 'POST /users/{id}/invitation',
    status: 200,
    reply: shapes.invitedUser,
    acts: 'in the organization',
    prepare: aUser,
  },
  updateUser: {
    request: 'PUT /users/{id}',
    status: 200,
    reply: shapes.user,
    acts: 'in the organization',
    prepare: async (party) => ({ ...(await aUser(party)), body: { role: 'admin' } }),
  },
  removeUser: {
    request: 'DELETE /users/{id}',
    status: 200,
    reply: shapes.done,
    acts: 'in the organization',
    prepare: aUser,
  },
  getInvitation: {
    request: 'POST /invitations/get',
    status: 200,
    reply: shapes.invitation,
    acts: 'for anyone',
    prepare: async ({ service, organization }) => ({ body: { token: (await invite(service, organization)).token } }),
  },
  acceptInvitation: {
    request: 'POST /invitations/accept',
    status: 200,
    reply: shapes.me,
    acts: 'for anyone',
    prepare: async ({ service, organization }) => ({
      body: { token: (await invite(service, organization)).token, name: 'Ada Lopez', password: goodPassword },
    }),
  },
  requestPasswordReset: {
    request: 'POST /password-resets',
    status: 200,
    reply: { mail: 'boolean' },
    acts: 'for anyone',
    prepare: async () => ({ body: { email: newEmail() } }),
  },
  resetPassword: {
    request: 'POST /password-resets/complete',
    status: 200,
    reply: shapes.passwordReset,
    acts: 'for anyone',
    prepare: aPasswordReset,
  },

  getSingleSignOn: {
    request: 'GET /organization/single-sign-on',
    status: 200,
    reply: shapes.singleSignOn,
    acts: 'in the organization',
    prepare: async ({ service, organization }) => {
      await setProvider(service, organization, await anyProvider())
      return {}
    },
  },
  setSingleSignOn: {
    request: 'PUT /organization/single-sign-on',
    status: 200,
    reply: shapes.singleSignOn,
    acts: 'in the organization',
    prepare: async () => ({ body: settingsFor(await anyProvider()) }),
  },
  deleteSingleSignOn: {
    request: 'DELETE /organization/single-sign-on',
    status: 200,
    reply: shapes.done,
    acts: 'in the organization',
    prepare: async ({ service, organization }) => {
      await setProvider(service, organization, await anyProvider())
      return {}
    },
  },

  listWebhooks: {
    request: 'GET /webhooks',
    status: 200,
    reply: [shapes.webhook],
    acts: 'in either',
    prepare: async ({ caller }) => {
      const { id: accountId } = await caller.addAccount()
      await caller.expect(caller.call('createWebhook', { body: { url: receiver, accountId } }))
      return { accountId }
    },
  },
  createWebhook: {
    request: 'POST /webhooks',
    status: 201,
    reply: shapes.webhookWithSecret,
    acts: 'in the organization',
    prepare: async ({ caller }) => ({ body: { url: receiver, accountId: (await caller.addAccount()).id } }),
  },
  getWebhook: {
    request: 'GET /webhooks/{id}',
    status: 200,
    reply: shapes.webhook,
    acts: 'in the organization',
    etag: true,
    prepare: aWebhook,
  },
  updateWebhook: {
    request: 'PUT /webhooks/{id}',
    status: 200,
    reply: shapes.webhook,
    acts: 'in the organization',
    changes: 'getWebhook',
    prepare: async (party) => ({ ...(await aWebhook(party)), body: { description: 'Other' } }),
  },
  deleteWebhook: {
    request: 'DELETE /webhooks/{id}',
    status: 200,
    reply: shapes.done,
    acts: 'in the organization',
    changes: 'getWebhook',
    prepare: aWebhook,
  },
  rotateWebhookSecret: {
    request: 'POST /webhooks/{id}/rotate',
    status: 200,
    reply: shapes.webhookWithSecret,
    acts: 'in the organization',
    changes: 'getWebhook',
    prepare: async (party) => ({ ...(await aWebhook(party)), body: {} }),
  },
  testWebhook: {
    request: 'POST /webhooks/{id}/test',
    status: 202,
    reply: shapes.webhookDelivery,
    acts: 'in the organization',
    prepare: aWebhook,
  },
  replayWebhook: {
    request: 'POST /webhooks/{id}/replay',
    status: 202,
    reply: { replayed: 'integer', complete: 'boolean' },
    acts: 'in the organization',
    prepare: async (party) => ({ ...(await aWebhook(party)), body: { since: 1 } }),
  },
  listWebhookDeliveries: {
    request: 'GET /webhooks/{id}/deliveries',
    status: 200,
    reply: [shapes.webhookDelivery],
    acts: 'in the organization',
    prepare: async (party) => ({ id: (await aDelivery(party)).webhookId }),
  },
  getWebhookDelivery: {
    request: 'GET /webhook-deliveries/{id}',
    status: 200,
    reply: shapes.webhookDeliveryDetails,
    acts: 'in the organization',
    prepare: async (party) => ({ id: (await aDelivery(party)).id }),
  },
  replayWebhookDelivery: {
    request: 'POST /webhook-deliveries/{id}/replay',
    status: 202,
    reply: shapes.webhookDelivery,
    acts: 'in the organization',
    prepare: async (party) => ({ id: (await aDelivery(party)).id }),
  },

  listAudit: {
    request: 'GET /audit',
    status: 200,
    reply: [shapes.auditEvent],
    acts: 'in either',
    prepare: async (party) => ({ accountId: (await aConnection(party)).accountId }),
  },

  verifyAudit: {
    request: 'GET /audit/verification',
    status: 200,
    reply: shapes.auditVerification,
    acts: 'in the organization',
    prepare: async () => ({}),
  },

  getSignInRules: {
    request: 'GET /organization/sign-in-rules',
    status: 200,
    reply: shapes.signInRules,
    acts: 'in the organization',
    prepare: async () => ({}),
  },
  // The last one: people who are in the organization sign in again.
  setSignInRules: {
    request: 'PUT /organization/sign-in-rules',
    status: 200,
    reply: shapes.signInRules,
    acts: 'in the organization',
    prepare: anOwnerWithPasskey,
  },
}

/** The methods of each path, as `Allow` names them. */
export const allowedMethods: Readonly<Record<string, string>> = {
  '/oauth/client-token': 'POST',
  '/connectors': 'GET, HEAD, POST',
  '/connections/{id}/run-conditions': 'GET, HEAD, PUT',
  '/connections/{id}/tables': 'GET, HEAD, PUT',
  '/connections/{id}/triggers': 'GET, HEAD, POST',
  '/purposes': 'GET, HEAD, PUT',
  '/transfer-groups': 'GET, HEAD, PUT',
  '/triggers/{id}': 'DELETE',
  '/streams/{id}': 'GET, HEAD',
  '/streams/{id}/events': 'GET, HEAD',
  '/streams/{id}/test': 'POST',
  '/streams/{id}/keys': 'POST',
  '/stream-keys/{id}': 'DELETE',
  '/connectors/added': 'GET, HEAD',
  '/connectors/configurations': 'GET, HEAD',
  '/connectors/supported': 'GET, HEAD',
  '/connectors/words': 'GET, HEAD',
  '/connectors/{id}': 'GET, HEAD, DELETE',
  '/connectors/{id}/configuration': 'GET, HEAD, PUT, DELETE',
  '/connectors/{id}/configurations': 'POST',
  '/connectors/{id}/definition': 'GET, HEAD',
  '/connectors/{id}/discover': 'POST',
  '/data-subjects/find': 'POST',
  '/data-subjects/erase': 'POST',
  '/data-subjects/destinations': 'GET, HEAD',
  '/connectors/{id}/erase': 'POST',
  '/connectors/{id}/ask': 'POST',
  '/connectors/{id}/try': 'POST',
  '/connectors/{id}/authorization': 'GET, HEAD, POST',
  '/accounts': 'GET, HEAD, POST',
  '/accounts/figures': 'GET, HEAD',
  '/accounts/{id}': 'GET, HEAD, PUT, DELETE',
  '/connections': 'GET, HEAD, POST',
  '/connections/{id}': 'GET, HEAD, PUT, DELETE',
  '/connections/{id}/status': 'PUT',
  '/connections/{id}/restore': 'POST',
  '/connections/details': 'GET, HEAD',
  '/connections/{id}/events': 'GET, HEAD',
  '/sample': 'GET, HEAD, POST, DELETE',
  '/sample/preview': 'POST',
  '/schedules': 'GET, HEAD',
  '/attention': 'GET, HEAD',
  '/transfers': 'GET, HEAD',
  '/connectors/{id}/check': 'POST',
  '/connections/{id}/preview': 'POST',
  '/connections/{id}/transfers': 'GET, HEAD, POST',
  '/connections/{id}/transfers/{transferId}': 'GET, HEAD',
  '/connections/{id}/transfers/{transferId}/cancel': 'POST',
  '/connections/{id}/transfers/{transferId}/rejects': 'GET, HEAD, PUT',
  '/connections/{id}/transfers/{transferId}/retry': 'POST',
  '/connections/{id}/transfers/{transferId}/replay': 'GET, HEAD, POST',
  '/connections/{id}/schedule': 'GET, HEAD, PUT, DELETE',
  '/connections/{id}/drift': 'GET, HEAD, PUT',
  '/connections/{id}/rules': 'GET, HEAD, PUT',
  '/connections/{id}/state': 'GET, HEAD',
  '/connections/{id}/state/reset': 'POST',
  '/connections/{id}/labels': 'GET, HEAD, PUT',
  '/saved-filters': 'GET, HEAD, POST',
  '/saved-filters/{id}': 'PUT, DELETE',
  '/mapping-templates': 'GET, HEAD, POST',
  '/mapping-templates/{id}': 'GET, HEAD, PUT, DELETE',
  '/mapping-templates/{id}/apply': 'POST',
  '/connections/labels': 'GET, HEAD',
  '/connections/tags': 'GET, HEAD',
  '/connections/{id}/transfers/{transferId}/log': 'GET, HEAD',
  '/connections/{id}/transfers/{transferId}/parts': 'GET, HEAD',
  '/reports/accounts': 'GET, HEAD',
  '/reports/audiences': 'GET, HEAD',
  '/reports/connections': 'GET, HEAD',
  '/alert-rules': 'GET, HEAD, POST',
  '/alert-rules/{id}': 'GET, HEAD, PUT, DELETE',
  '/alert-rules/{id}/mute': 'PUT',
  '/alert-rules/{id}/test': 'POST',
  '/alert-incidents': 'GET, HEAD',
  '/alert-incidents/{id}': 'GET, HEAD',
  '/alert-incidents/{id}/acknowledge': 'POST',
  '/clients': 'GET, HEAD, POST',
  '/clients/{id}': 'GET, HEAD, PUT, DELETE',
  '/clients/{id}/rotate': 'POST',
  '/sessions': 'POST',
  '/connect-links': 'GET, HEAD, POST',
  '/connect-links/{id}': 'GET, HEAD, DELETE',
  '/connect-page/get': 'POST',
  '/connect-page/open': 'POST',
  '/connect-page/finish': 'POST',
  '/organization/branding': 'GET, HEAD, PUT',
  '/organization/usage': 'GET, HEAD',
  '/organization/single-sign-on': 'GET, HEAD, PUT, DELETE',
  '/webhooks': 'GET, HEAD, POST',
  '/webhooks/{id}': 'GET, HEAD, PUT, DELETE',
  '/webhooks/{id}/rotate': 'POST',
  '/webhooks/{id}/test': 'POST',
  '/webhooks/{id}/replay': 'POST',
  '/webhooks/{id}/deliveries': 'GET, HEAD',
  '/webhook-deliveries/{id}': 'GET, HEAD',
  '/webhook-deliveries/{id}/replay': 'POST',
  '/organization/sign-in-rules': 'GET, HEAD, PUT',
  '/audit': 'GET, HEAD',
  '/audit/verification': 'GET, HEAD',
  '/sign-in': 'POST',
  '/sign-in/passkey': 'POST',
  '/sign-in/passkey/options': 'POST',
  '/sign-out': 'POST',
  '/me': 'GET, HEAD, PUT',
  '/me/password': 'PUT',
  '/me/sessions': 'GET, HEAD',
  '/me/sessions/{id}': 'DELETE',
  '/me/passkeys': 'GET, HEAD, POST',
  '/me/passkeys/options': 'POST',
  '/me/passkeys/{id}': 'DELETE',
  '/me/sign-out-everywhere': 'POST',
  '/users': 'GET, HEAD, POST',
  '/users/{id}': 'GET, HEAD, PUT, DELETE',
  '/users/{id}/invitation': 'POST',
  '/invitations/get': 'POST',
  '/invitations/accept': 'POST',
  '/password-resets': 'POST',
  '/password-resets/complete': 'POST',
  '/uploads': 'GET, HEAD, POST',
  '/uploads/{id}': 'GET, HEAD, DELETE',
}
