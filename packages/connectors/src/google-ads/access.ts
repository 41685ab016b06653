import { type ConnectorContext, ConnectorError } from '@penstock/connector'
import { call } from '../platform-api/call.ts'
import { numberIn, objectIn, textIn } from '../platform-api/json.ts'
import { connectorErrorOfStatus } from '../platform-api/status.ts'

/** Access tokens from a refresh token of Google. */
export type Access = {
  /** A token that is good for a while; asks for a new one where there is none. */
  token(): Promise<string>
  /** Makes the next `token` ask for a new one. */
  forget(): void
}

/** A token is renewed this long before it ends, so that it does not end on the way. */
const earlyMs = 60_000

export function openAccess(context: ConnectorContext, scope: string): Access {
  let current: { token: string; until: number } | undefined
  return {
    async token() {
      if (!current || current.until < Date.now()) current = await refresh(context, scope)
      return current.token
    },
    forget() {
      current = undefined
    },
  }
}

async function refresh(context: ConnectorContext, scope: string): Promise<{ token: string; until: number }> {
  const { clientId, clientSecret, refreshToken } = context.secrets
  const form = new URLSearchParams({
    grant_type: 'refresh_token',
    client_id: String(clientId ?? ''),
    client_secret: String(clientSecret ?? ''),
    refresh_token: String(refreshToken ?? ''),
  })
  const answer = await call(context, {
    url: 'https://oauth2.googleapis.com/token',
    method: 'POST',
    headers: { 'content-type': 'application/x-www-form-urlencoded' },
    body: form.toString(),
  })
  const { access_token, expires_in, error, scope: granted } = objectIn(answer.json)
  const token = textIn(access_token)
  if (answer.status === 200 && token) {
    if (textIn(granted) && !String(granted).split(' ').includes(scope)) {
      const message = `The refresh token was not granted the scope ${scope}; sign in at Google again and grant it.`
      throw new ConnectorError('permission_denied', message)
    }
    return { token, until: Date.now() + (numberIn(expires_in) ?? 0) * 1000 - earlyMs }
  }
  if (error === 'invalid_grant') {
    const message = 'Google does not accept the refresh token any more; sign in at Google again and save the new one.'
    throw new ConnectorError('invalid_credentials', message)
  }
  if (answer.status === 400 || answer.status === 401) {
    const message = 'Google does not accept the OAuth client; check its ID and secret.'
    throw new ConnectorError('invalid_credentials', message)
  }
  throw connectorErrorOfStatus('Google', answer)
}
