import { type JsonObject, objectIn, textIn } from '../../platform-api/json.ts'
import { type Notes, templateOf } from './texts.ts'

/** Values and secrets of the connector for an authenticator of a manifest. */
export function importAuthentication(
  authenticator: JsonObject,
  notes: Notes,
): { readonly values: Record<string, string>; readonly secrets: readonly string[] } {
  const type = textIn(authenticator.type) ?? 'NoAuth'
  const where = 'retriever.requester.authenticator'
  const wrong = (message: string) => {
    notes.problems.push({ path: `${notes.path}.${where}`, message })
    return { values: {}, secrets: [] }
  }
  switch (type) {
    case 'NoAuth':
      return { values: { authentication: 'none' }, secrets: [] }
    case 'BearerAuthenticator':
      return { values: { authentication: 'bearer token' }, secrets: ['apiToken'] }
    case 'BasicHttpAuthenticator':
      return { values: { authentication: 'user name and password' }, secrets: ['username', 'password'] }
    case 'ApiKeyAuthenticator': {
      const { inject_into: into, header, api_token: token } = authenticator
      const { inject_into: place = 'header', field_name: name = header } = objectIn(into)
      const prefix = /^\s*([^{}\s]+)\s*\{\{/.exec(textIn(token) ?? '')?.[1]
      if (prefix === 'Bearer' && /^authorization$/i.test(String(name))) {
        return { values: { authentication: 'bearer token' }, secrets: ['apiToken'] }
      }
      if (place !== 'header' && place !== 'request_parameter') return wrong(`A key in ${place} cannot be carried.`)
      const keyIn = place === 'header' ? 'header' : 'query'
      return { values: { authentication: 'API key', keyIn, keyName: textIn(name) ?? '' }, secrets: ['apiToken'] }
    }
    case 'OAuthAuthenticator': {
      if (authenticator.profile_assertion) return wrong('A signed assertion cannot be carried.')
      const grant = textIn(authenticator.grant_type) ?? 'refresh_token'
      if (grant !== 'refresh_token' && grant !== 'client_credentials')
        return wrong(`The grant ${grant} cannot be carried.`)
      const tokenUrl = templateOf(textIn(authenticator.token_refresh_endpoint) ?? '', notes, where)
      const values = { authentication: grant.replace('_', ' '), tokenUrl }
      return { values, secrets: ['clientId', 'clientSecret', ...(grant === 'refresh_token' ? ['refreshToken'] : [])] }
    }
    default:
      return wrong(`${type} cannot be carried.`)
  }
}
