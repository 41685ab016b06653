import type { Deps } from '../deps.ts'
import type { Handlers } from '../http/call.ts'
import { addAccount, deleteAccount, editAccount, getAccount, listAccounts } from './accounts.ts'

type AccountOperation = 'getAccount' | 'listAccounts' | 'addAccount' | 'editAccount' | 'deleteAccount'

export const accountRoutes = ({ config, accountContents, accounts }: Deps): Handlers<AccountOperation> => {
  const env = config.environment.name
  return {
    getAccount: ({ db, actor, id }) => getAccount(db, actor, id),
    listAccounts: ({ db, actor, query }) => listAccounts(db, actor, query),
    addAccount: ({ db, actor, body }) => addAccount(db, actor, { env, quota: config.quotas.accounts }, body),
    editAccount: ({ db, actor, id, body, precondition }) => editAccount(db, actor, env, id, body, precondition),
    deleteAccount: async ({ db, actor, id, precondition }) => {
      const reply = await deleteAccount(db, actor, env, id, precondition, accountContents)
      db.afterCommit(() => accounts.forget(id))
      return { reply }
    },
  }
}
