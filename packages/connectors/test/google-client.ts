import { JWT } from 'google-auth-library'
import type { GoogleAccounts } from './google-accounts.ts'

/**
 * Credentials of Google's own clients: a service account whose tokens come from a test server. The clients ask the address
 * of Google's tokens, whatever their settings say, so the requests are sent on.
 * @param url of the test server, which answers `POST /token`
 * @param scope by the last part of its name
 */
export function googleCredentials(url: string, { jsonKey }: Pick<GoogleAccounts, 'jsonKey'>, scope: string): JWT {
  const { client_email: email, private_key: key } = JSON.parse(jsonKey) as { client_email: string; private_key: string }
  return new JWT({
    email,
    key,
    scopes: [`https://www.googleapis.com/auth/${scope}`],
    transporterOptions: { fetchImplementation: (_, init) => fetch(`${url}/token`, init) },
  })
}
