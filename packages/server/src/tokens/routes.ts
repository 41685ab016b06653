import type { Deps } from '../deps.ts'
import type { Handlers } from '../http/call.ts'
import { createCredentialCheck, createToken } from './tokens.ts'

export const tokenRoutes = ({ attempts, requestLimit, config, database, notices }: Deps): Handlers<'createToken'> => {
  const areRight = createCredentialCheck(database, notices)
  return {
    createToken: async ({ db, body, address }) => ({
      reply: await createToken(db, areRight, { attempts, requestLimit }, config.tokenLifetimeSeconds, body, address),
    }),
  }
}
