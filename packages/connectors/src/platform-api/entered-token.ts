import type { Credentials } from './client.ts'
import type { AccessTokens } from './oauth.ts'

/** Credentials that begin with a token that a person entered, and get others with the refresh token once that has ended. */
export function enteredToken(token: string, tokens: AccessTokens): Credentials {
  const entered = { authorization: `Bearer ${token}` }
  let ended = false
  return {
    renews: true,
    async headers(refused) {
      if (refused?.authorization === entered.authorization) ended = true
      return ended ? tokens.headers(refused) : entered
    },
  }
}
