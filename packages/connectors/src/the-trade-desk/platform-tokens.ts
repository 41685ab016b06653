import { type ConnectorContext, ConnectorError } from '@penstock/connector'
import { restApi } from '../kit/api.ts'
import { openApi } from '../kit/run/open-api.ts'
import type { Credentials, SignInHeaders } from '../platform-api/client.ts'
import { objectIn, textIn } from '../platform-api/json.ts'
import { platformApi } from './platform-api.ts'

/** Lifetime of a requested token, in minutes. */
const livesMinutes = 60
/** A token is renewed so long before it ends. */
const earlyMs = 5 * 60_000

/**
 * The sign-in to the platform API of The Trade Desk: a token that a person created, or tokens that are asked for with the client ID
 * and the client secret, which are the login and the password of an API user. Throws connector errors.
 */
export function openPlatformTokens(context: ConnectorContext): Credentials {
  const { clientId, clientSecret, apiToken } = context.secrets
  const saved = textIn(apiToken)
  if (saved !== undefined) return { renews: false, headers: async () => ({ 'ttd-auth': saved }) }
  if (!clientId || !clientSecret) {
    const message = 'Save the client ID and the client secret in the connector, or a token of The Trade Desk.'
    throw new ConnectorError('invalid_credentials', message)
  }
  let current: { readonly token: string; readonly untilMs: number } | undefined
  let pending: Promise<string> | undefined
  async function renew(): Promise<string> {
    const client = await openApi(context, restApi({ ...platformApi, errors: signInErrors }), {
      open: async () => ({ renews: false, headers: async () => ({}) }),
    })
    const { json } = await client.askObject({
      method: 'POST',
      path: '/authentication',
      body: { Login: clientId, Password: clientSecret, TokenExpirationInMinutes: livesMinutes },
      repeatable: true,
    })
    const token = textIn(objectIn(json).Token)
    if (token === undefined || !/^[\x21-\x7e]{1,4096}$/.test(token)) {
      throw new ConnectorError('malformed_response', 'The Trade Desk did not return a token.')
    }
    current = { token, untilMs: Date.now() + livesMinutes * 60_000 - earlyMs }
    return token
  }
  return {
    renews: true,
    async headers(refused?: SignInHeaders) {
      if (current && current.token !== refused?.['ttd-auth'] && Date.now() < current.untilMs) {
        return { 'ttd-auth': current.token }
      }
      pending ??= renew().finally(() => {
        pending = undefined
      })
      return { 'ttd-auth': await pending }
    },
  }
}

const wrong = ['invalid_credentials', 'Check the client ID and the client secret.'] as const
const signInErrors = { statuses: { 400: wrong, 401: wrong, 403: wrong } }
