import assert from 'node:assert/strict'
import { test } from 'node:test'
import { type Authorization, type AuthorizationServer, authorizationAt, errorOfAuthorization } from './authorization.ts'
import { type ConnectorDefinition, defineConnector } from './connector.ts'
import { type Fields, secret, select, text } from './fields.ts'

const server: AuthorizationServer = {
  slug: 'acme',
  name: 'Acme',
  authorizeUrl: 'https://acme.example/authorize',
  tokenUrl: 'https://acme.example/token',
  pkce: true,
  registration: 'Create an app.',
  withoutRefreshToken: 'Ask Acme.',
}
const field = { label: 'Any', description: 'Any' }
const secrets: Fields = {
  clientId: text({ ...field, required: true }),
  clientSecret: secret({ ...field, required: true }),
  refreshToken: secret({ ...field, required: true }),
}
const authType = select({ ...field, options: ['oauth2', 'api-token'], required: true })
const at = (changed: Partial<AuthorizationServer>, more: Partial<Authorization> = {}): Authorization => ({
  ...authorizationAt({ ...server, ...changed }, ['ads']),
  ...more,
})

test('an authorization fills fields of the connector, and all that are required', () => {
  assert.equal(errorOfAuthorization(secrets, at({})), undefined)
  assert.equal(errorOfAuthorization({ ...secrets, authType }, at({}, { sets: { authType: 'oauth2' } })), undefined)
  const entered = { ...secrets, accountId: text({ ...field, required: true }) }
  const wrong: [Fields, Authorization, RegExp][] = [
    [{ ...secrets, clientSecret: text(field) }, at({}), /fills clientSecret, which is not a Password field/],
    [secrets, at({}, { refreshToken: 'token' }), /fills token, which is not a Password field/],
    [secrets, at({}, { client: { id: '__proto__', secret: 'clientSecret' } }), /fills __proto__/],
    [entered, at({}), /does not fill the required field secrets.accountId/],
    [{ ...secrets, authType }, at({}, { sets: { authType: 'other' } }), /sets authType, which has no option other/],
    [secrets, at({}, { scopes: [] }), /requests no scopes/],
    [secrets, at({ slug: 'Acme Ads' }), /is not a slug/],
  ]
  for (const [fields, authorization, message] of wrong) {
    assert.match(errorOfAuthorization(fields, authorization) ?? '', message)
  }
})

test('nothing that a tenant saves decides where the secret of an app goes', () => {
  for (const tokenUrl of ['http://acme.example/token', 'https://acme.example/token?a=b', 'token']) {
    assert.match(errorOfAuthorization(secrets, at({ tokenUrl })) ?? '', /must be an https address without a query/)
  }
  const host = text({ ...field, required: false, binds: ['clientSecret'] })
  assert.match(
    errorOfAuthorization({ ...secrets, host }, at({})) ?? '',
    /fills secrets that are sent to the address in host/,
  )
})

test('a connector with a wrong authorization is not defined', () => {
  const platform = { slug: 'acme', name: 'Acme', type: 'Social Media Platform' } as const
  const definition: ConnectorDefinition = {
    slug: 'acme-ads',
    name: 'Acme Ads',
    platform,
    description: 'Any.',
    secrets,
    destination: {},
    dataType: 'events',
    dataTypeCategory: 'events',
  }
  assert.equal(defineConnector({ ...definition, authorization: at({}) }).authorization?.server.name, 'Acme')
  assert.throws(
    () => defineConnector({ ...definition, authorization: at({ tokenUrl: 'http://acme.example' }) }),
    /^Error: acme-ads: its authorization http/,
  )
})
