import type { Deps } from '../deps.ts'
import type { Handlers } from '../http/call.ts'
import {
  addConnectors,
  configureConnector,
  getConnector,
  getConnectorConfiguration,
  listAddedConnectors,
  listSupportedConnectors,
  removeConnector,
} from './connectors.ts'

type ConnectorOperation =
  | 'listConnectors'
  | 'addConnectors'
  | 'listAddedConnectors'
  | 'listSupportedConnectors'
  | 'getConnector'
  | 'getConnectorConfiguration'
  | 'configureConnector'
  | 'removeConnector'

export const connectorRoutes = ({ config, catalogue, keyring }: Deps): Handlers<ConnectorOperation> => {
  const env = config.environment.name
  const { plainHttp } = config
  return {
    listConnectors: async ({ query }) => catalogue.page(query),
    addConnectors: async ({ db, account, body }) => ({ reply: await addConnectors(db, catalogue, env, account, body) }),
    listAddedConnectors: ({ db, account, query }) => listAddedConnectors(db, catalogue, env, account, query),
    listSupportedConnectors: async ({ db, account, query }) => ({
      reply: await listSupportedConnectors(db, catalogue, account, query),
    }),
    getConnector: async ({ id }) => getConnector(catalogue, id),
    getConnectorConfiguration: ({ db, account, id }) => getConnectorConfiguration(db, catalogue, env, account, id),
    configureConnector: ({ db, account, id, body, precondition }) =>
      configureConnector(db, catalogue, { keyring, environment: env, plainHttp }, account, id, body, precondition),
    removeConnector: async ({ db, account, id, precondition }) => ({
      reply: await removeConnector(db, catalogue, env, account, id, precondition),
    }),
  }
}
