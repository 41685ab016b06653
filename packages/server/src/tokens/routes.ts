import type { Deps } from '../deps.ts'
import type { Handlers } from '../http/call.ts'
import { createClientFinder, createToken } from './tokens.ts'

export const tokenRoutes = ({ attempts, requestLimit, config, database, notices }: Deps): Handlers<'createToken'> => {
  const findSecretDigest = createClientFinder(database, notices)
  return {
    createToken: async ({ db, body, address }) => ({
      reply: await createToken(
        db,
        findSecretDigest,
        { attempts, requestLimit },
        config.tokenLifetimeSeconds,
        body,
        address,
      ),
    }),
  }
}
