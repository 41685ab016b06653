import type { Deps } from '../deps.ts'
import type { Handlers } from '../http/call.ts'
import { checkConnector } from './check.ts'
import { getConnectorDefinition } from './definitions.ts'
import { previewConnection } from './preview.ts'
import { listRejects, streamRejects } from './rejects.ts'
import { getReplayable, replayTransfer } from './replays.ts'
import { deleteSchedule, getSchedule, setSchedule } from './schedules.ts'
import { cancelTransfer, getTransfer, listAllTransfers, listTransfers, startTransfer } from './transfers.ts'

type TransferOperation =
  | 'checkConnector'
  | 'getConnectorDefinition'
  | 'previewConnection'
  | 'startTransfer'
  | 'listAllTransfers'
  | 'listTransfers'
  | 'getTransfer'
  | 'cancelTransfer'
  | 'listRejects'
  | 'getReplayable'
  | 'replayTransfer'
  | 'getSchedule'
  | 'setSchedule'
  | 'deleteSchedule'

export const transferRoutes = ({ config, catalogue, keyring, interactive }: Deps): Handlers<TransferOperation> => {
  const env = config.environment.name
  const deps = { catalogue, keyring, interactive }
  return {
    checkConnector: async ({ db, account, id, signal }) => ({
      reply: await checkConnector(db, deps, account, id, signal),
    }),
    getConnectorDefinition: async ({ id }) => ({ reply: getConnectorDefinition(catalogue, id) }),
    previewConnection: async ({ db, account, id, body, signal }) => ({
      reply: await previewConnection(db, deps, account, id, body, signal),
    }),
    startTransfer: ({ db, account, id, body }) => startTransfer(db, catalogue, account, id, body),
    listAllTransfers: ({ db, actor, account, query }) => listAllTransfers(db, actor, account, query),
    listTransfers: ({ db, account, id, query }) => listTransfers(db, account, id, query),
    getTransfer: async ({ db, account, id, transferId }) => ({ reply: await getTransfer(db, account, id, transferId) }),
    cancelTransfer: async ({ db, account, id, transferId }) => ({
      reply: await cancelTransfer(db, account, id, transferId),
    }),
    listRejects: async ({ db, account, id, transferId, query, stream }) =>
      stream
        ? { reply: [], total: 0, body: await streamRejects(db, keyring, account, id, transferId, stream) }
        : listRejects(db, keyring, account, id, transferId, query),
    getReplayable: async ({ db, account, id, transferId }) => ({
      reply: await getReplayable(db, account, id, transferId),
    }),
    replayTransfer: ({ db, account, id, transferId }) => replayTransfer(db, catalogue, account, id, transferId),
    getSchedule: async ({ db, account, id }) => ({ reply: await getSchedule(db, account, id) }),
    setSchedule: async ({ db, account, id, body }) => ({
      reply: await setSchedule(
        db,
        catalogue,
        { environment: env, quota: config.quotas.enabledSchedules },
        account,
        id,
        body,
      ),
    }),
    deleteSchedule: async ({ db, account, id }) => ({ reply: await deleteSchedule(db, env, account, id) }),
  }
}
