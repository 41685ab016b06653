import type { Fields } from './fields.ts'
import { missingValues, type Values } from './values.ts'

/**
 * A server at which a user of a platform grants an app access: the authorization code flow of OAuth 2.0 (RFC 6749), with a
 * refresh token. Every address is fixed here, so that no setting of a tenant can redirect the secret of an app.
 */
export type AuthorizationServer = {
  /** The operator registers an app with this slug. One app serves all connectors that use the server. */
  readonly slug: string
  /** The platform's name, for messages. */
  readonly name: string
  /** Address where the user gives consent. */
  readonly authorizeUrl: string
  /** Address where the code is exchanged. The secret of the app is sent only to this address. */
  readonly tokenUrl: string
  /** Issuer identifier of the server; compared with `iss` if the response contains `iss` (RFC 9207). */
  readonly issuer?: string
  /** Whether the server supports PKCE (RFC 7636). */
  readonly pkce: boolean
  /** Whether the secret of the app is sent in the body, as with most platforms, or in the header `Authorization`. */
  readonly clientIn?: 'body' | 'header'
  /** Separator of scopes; by default a space, as in the standard. */
  readonly scopeSeparator?: ' ' | ','
  /** Parameters of the address in addition to the standard ones, such as `access_type`. */
  readonly authorizeParameters?: Readonly<Record<string, string>>
  /** Parameters of the exchange in addition to the standard ones. */
  readonly tokenParameters?: Readonly<Record<string, string>>
  /** Where the operator registers an app, as a sentence for the documents. */
  readonly registration: string
  /** Advice if the platform grants no refresh token: a sentence. */
  readonly withoutRefreshToken: string
}

/** How a user of its platform authorizes a connector, instead of entering tokens. */
export type Authorization = {
  readonly server: AuthorizationServer
  /** Requested scopes. */
  readonly scopes: readonly string[]
  /** Fields of `secrets` that the app of the operator fills while the connector is authorized this way. */
  readonly client: { readonly id: string; readonly secret: string }
  /** The field of `secrets` that stores the granted token. */
  readonly refreshToken: string
  /** Other fields of `secrets` that choose this way to sign in, with their values. */
  readonly sets?: Values
}

/** The usual names of the fields. */
const usual = { client: { id: 'clientId', secret: 'clientSecret' }, refreshToken: 'refreshToken' } as const

/** Authorization at a server, for scopes, with the usual names of fields by default. */
export const authorizationAt = (
  server: AuthorizationServer,
  scopes: readonly string[],
  more: Partial<Pick<Authorization, 'client' | 'refreshToken' | 'sets'>> = {},
): Authorization => ({ ...usual, server, scopes, ...more })

/** Error of the authorization of a connector with these secrets; `undefined` if it is valid. */
export function errorOfAuthorization(secrets: Fields, authorization: Authorization): string | undefined {
  const { server, scopes, client, refreshToken, sets = {} } = authorization
  for (const address of [server.authorizeUrl, server.tokenUrl]) {
    const url = URL.parse(address)
    if (url?.protocol !== 'https:' || url.search || url.hash)
      return `${address} must be an https address without a query`
  }
  if (!/^[a-z0-9]+(-[a-z0-9]+)*$/.test(server.slug)) return `${server.slug} is not a slug`
  if (scopes.length === 0) return 'requests no scopes'
  const types = { [client.id]: 'Text', [client.secret]: 'Password', [refreshToken]: 'Password' }
  for (const [key, type] of Object.entries(types)) {
    if (!Object.hasOwn(secrets, key) || secrets[key]?.type !== type) return `fills ${key}, which is not a ${type} field`
  }
  // Values that the operator's app fills must not be sent to an address of a tenant.
  for (const [key, { binds = [] }] of Object.entries(secrets)) {
    if (binds.some((name) => name in types)) return `fills secrets that are sent to the address in ${key}`
  }
  const stranger = Object.entries(sets).find(([key, value]) => !secrets[key]?.options?.includes(String(value)))
  if (stranger) return `sets ${stranger[0]}, which has no option ${stranger[1]}`
  const filled = { ...sets, ...Object.fromEntries(Object.keys(types).map((key) => [key, ''])) }
  const [missing] = missingValues(secrets, filled, 'secrets')
  return missing && `does not fill the required field ${missing.field}`
}
