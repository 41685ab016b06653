import type { Received, Reply } from './platform-server.ts'
import type { Exchange } from './test-report-source.ts'

/** How the examples of Google's reports sign in: the exchange of the refresh token, and what is refused without its token. */
export const googleReportSignIn = {
  secrets: { clientId: 'app', clientSecret: 'secret', refreshToken: 'good' },
  wrongSecrets: { clientId: 'app', clientSecret: 'secret', refreshToken: 'bad' },
  denies: ({ path, headers, text }: Received): Reply | undefined => {
    if (path === '/token') {
      const isGood = new URLSearchParams(text).get('refresh_token') === 'good'
      return isGood ? undefined : { status: 400, json: { error: 'invalid_grant' } }
    }
    return headers.authorization === 'Bearer access' ? undefined : { status: 401, json: unauthenticated }
  },
  revoked: { status: 401, json: { error: { code: 401, status: 'UNAUTHENTICATED' } } },
}

const unauthenticated = { error: { code: 401, status: 'UNAUTHENTICATED' } }

/** The origin of the token endpoint. */
export const googleTokens = 'https://oauth2.googleapis.com'

/** The answer of the token endpoint. */
export const googleToken: Exchange = {
  method: 'POST',
  path: '/token',
  answer: { json: { access_token: 'access', expires_in: 3599, token_type: 'Bearer' } },
}
