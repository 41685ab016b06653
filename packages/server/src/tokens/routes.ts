import type { Deps } from '../deps.ts'
import type { Handlers } from '../http/call.ts'
import { createToken } from './tokens.ts'

export const tokenRoutes = ({ attempts, config }: Deps): Handlers<'createToken'> => ({
  createToken: async ({ db, body, address }) => ({
    reply: await createToken(db, attempts, config.tokenLifetimeSeconds, body, address),
  }),
})
