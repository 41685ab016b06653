import type { Deps } from '../deps.ts'
import type { Handlers } from '../http/call.ts'
import {
  createConnection,
  getConnection,
  listConnectionEvents,
  listConnections,
  triggerConnection,
  updateConnection,
} from './connections.ts'

type ConnectionOperation =
  | 'listConnections'
  | 'createConnection'
  | 'getConnection'
  | 'updateConnection'
  | 'updateConnectionStatus'
  | 'deleteConnection'
  | 'restoreConnection'
  | 'listConnectionEvents'

export const connectionRoutes = ({ config, catalogue }: Deps): Handlers<ConnectionOperation> => {
  const ground = { catalogue, environment: config.environment.name, quota: config.quotas.connections }
  return {
    listConnections: ({ db, actor, account, query }) => listConnections(db, ground, actor, account, query),
    createConnection: async ({ db, account, body }) => ({ reply: await createConnection(db, ground, account, body) }),
    getConnection: ({ db, account, id }) => getConnection(db, ground, account, id),
    updateConnection: ({ db, account, id, body, precondition }) =>
      updateConnection(db, ground, account, id, body, precondition),
    updateConnectionStatus: ({ db, account, id, body, precondition }) =>
      triggerConnection(db, ground, account, id, body.action, precondition),
    deleteConnection: ({ db, account, id, precondition }) =>
      triggerConnection(db, ground, account, id, 'delete', precondition),
    restoreConnection: ({ db, account, id, precondition }) =>
      triggerConnection(db, ground, account, id, 'restore', precondition),
    listConnectionEvents: ({ db, account, id, query }) => listConnectionEvents(db, account, id, query),
  }
}
