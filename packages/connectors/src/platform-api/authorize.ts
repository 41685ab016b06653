import { type Authorization, type ConnectorContext, ConnectorError } from '@penstock/connector'
import { type ConsentedCode, exchangeCode } from './oauth.ts'

/** The app that the operator registered with a platform. */
export type AuthorizationClient = { readonly id: string; readonly secret: string }

/**
 * Exchanges the code that a platform gave when a user consented, at the address that the connector's definition fixes.
 * Resolves with the refresh token. Everything throws connector errors.
 */
export async function exchangeAuthorization(
  context: ConnectorContext,
  { server, scopes }: Authorization,
  client: AuthorizationClient,
  consented: ConsentedCode,
): Promise<string> {
  const refreshToken = await exchangeCode(
    context,
    {
      platform: server.name,
      url: server.tokenUrl,
      client: { ...client, in: server.clientIn ?? 'body' },
      consented: scopes.join(' '),
      parameters: server.tokenParameters ?? {},
      renewal: 'authorize the connector again',
    },
    consented,
  )
  if (refreshToken !== undefined) return refreshToken
  const message = `${server.name} granted access without a refresh token, so that it would end soon. ${server.withoutRefreshToken}`
  throw new ConnectorError('invalid_credentials', message)
}
