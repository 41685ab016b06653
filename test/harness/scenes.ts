import { type Operation, type OperationId, operations } from '@penstock/wire'
import {
  type Caller,
  connectorBySlug,
  destination,
  destinationSettings,
  source,
  sourceSecrets,
  sourceSettings,
} from './fixtures.ts'
import type { Organization } from './service.ts'
import type { Draft } from './spoilings.ts'

/** Things to send requests about: an account with both ends, one connection, and one that is deleted. */
export type Scene = Readonly<
  Record<'accountId' | 'srcConfigurationId' | 'destConfigurationId' | 'connectionId' | 'deletedId', string>
>

/** A connector that no connection of a scene uses. */
const spare = connectorBySlug('adobe-audience-manager')

/** Makes a scene through the interface. */
export async function makeScene(caller: Caller): Promise<Scene> {
  const { id: accountId } = await caller.addAccountWithEnds()
  await caller.configureEnds(accountId)
  await caller.addConnectors(accountId, spare)
  const { id: connectionId } = await caller.createConnection(accountId)
  const { id: deletedId } = await caller.createConnection(accountId)
  await caller.expect(caller.call('deleteConnection', { accountId, id: deletedId }))
  const details = await caller.expect(caller.call('getConnection', { accountId, id: connectionId }))
  const { srcConfigurationId, destConfigurationId } = details
  return { accountId, srcConfigurationId, destConfigurationId, connectionId, deletedId }
}

/** What a valid request of each operation names and says. */
const valid: {
  readonly [I in OperationId]: (
    scene: Scene,
    organization: Organization,
  ) => { id?: string; query?: Record<string, string>; body?: unknown }
} = {
  createToken: (_, { clientId, clientSecret }) => ({ body: { clientId, clientSecret } }),
  listConnectors: () => ({
    query: { q: 'a', dataType: 'data store', supportedType: 'Source', size: '5', offset: '0' },
  }),
  addConnectors: () => ({ body: { connectorIds: [source.id, destination.id] } }),
  listAddedConnectors: () => ({ query: { q: 'a', configured: 'true', size: '5', offset: '0' } }),
  listSupportedConnectors: () => ({ query: { srcConnectorId: source.id, added: 'true' } }),
  getConnector: () => ({ id: source.id }),
  getConnectorConfiguration: () => ({ id: source.id }),
  configureConnector: ({ srcConfigurationId }) => ({
    id: source.id,
    body: { name: 'Name', secretConfig: sourceSecrets, configurationId: srcConfigurationId, secretName: 'Secret' },
  }),
  removeConnector: () => ({ id: spare.id }),
  getAccount: ({ accountId }) => ({ id: accountId }),
  listAccounts: () => ({ query: { q: 'a', size: '5', offset: '0' } }),
  addAccount: () => ({ body: { name: 'Name', enabled: true } }),
  editAccount: ({ accountId }) => ({ id: accountId, body: { name: 'Name', enabled: true } }),
  deleteAccount: ({ accountId }) => ({ id: accountId }),
  listConnections: () => ({ query: { q: 'a', status: 'active', size: '5', offset: '0' } }),
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
}

let keysUsed = 0

/** A valid request of an operation, about a scene. */
export function draftOf(operationId: OperationId, scene: Scene, organization: Organization): Draft {
  const operation: Operation = operations[operationId]
  const { id = '', query = {}, body } = valid[operationId](scene, organization)
  const accountId: [string, string][] = operation.scope.includes('account') ? [['accountId', scene.accountId]] : []
  return {
    method: operation.method,
    path: operation.path.replace('{id}', id),
    query: [
      ...accountId,
      ...Object.entries(query).map(([name, value]): [string, string] => [name, encodeURIComponent(value)]),
    ],
    headers: new Map([
      ['host', 'penstock.test'],
      ['connection', 'close'],
      ...(operation.scope === 'public' ? [] : [['authorization', `Bearer ${organization.token}`] as const]),
      ...(body === undefined ? [] : [['content-type', 'application/json'] as const]),
      ...(operation.method === 'POST' && operation.scope !== 'public'
        ? [['idempotency-key', `key ${++keysUsed}`] as const]
        : []),
    ]),
    json: body,
  }
}
