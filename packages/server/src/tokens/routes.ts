import type { Deps } from '../deps.ts'
import type { Handlers } from '../http/call.ts'
import { createClientFinder, createToken } from './tokens.ts'

export const tokenRoutes = ({ attempts, config, database, notices }: Deps): Handlers<'createToken'> => {
  const findSecretDigest = createClientFinder(database, notices)
  return {
    createToken: async ({ db, body, address }) => ({
      reply: await createToken(db, findSecretDigest, attempts, config.tokenLifetimeSeconds, body, address),
    }),
  }
}
