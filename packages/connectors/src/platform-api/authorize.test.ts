import assert from 'node:assert/strict'
import { after, beforeEach, describe, test } from 'node:test'
import { type AuthorizationServer, authorizationAt } from '@penstock/connector'
import { testContext } from '@penstock/connector/acceptance'
import { connectorErrorOf, startPlatform } from '../../test/platform-server.ts'
import { exchangeAuthorization } from './authorize.ts'

/** The code of an authorization, at a token endpoint whose answers the test defines. */

let answer: { status?: number; json?: unknown } = {}
const platform = await startPlatform(() => answer)
after(() => platform.close())

const server: AuthorizationServer = {
  slug: 'acme',
  name: 'Acme Ads',
  authorizeUrl: 'https://acme.example/authorize',
  tokenUrl: 'https://acme.example/token',
  pkce: true,
  registration: 'Create an app.',
  withoutRefreshToken: 'Ask Acme for offline access.',
}
const client = { id: 'client-1', secret: 'canary-secret-of-the-app' }
const redirectUri = 'https://penstock.example/oauth/callback'
const context = testContext({
  secrets: { clientSecret: client.secret, refreshToken: 'canary-code' },
  routes: { 'https://acme.example': platform.url },
})
const exchange = (changed: Partial<AuthorizationServer> = {}, verifier: string | undefined = 'v'.repeat(43)) =>
  exchangeAuthorization(context, authorizationAt({ ...server, ...changed }, ['ads', 'audiences']), client, {
    code: 'canary-code',
    redirectUri,
    verifier,
  })
const refusal = async () => (await connectorErrorOf(exchange(), context)).message
const lastForm = () => Object.fromEntries(new URLSearchParams(platform.received.at(-1)?.text))

beforeEach(() => {
  answer = { json: { access_token: 'a', token_type: 'Bearer', refresh_token: 'refresh-1' } }
})

describe('the code of an authorization', () => {
  test('is exchanged with the client in the body, the address of the way back and the verifier', async () => {
    assert.equal(await exchange({ tokenParameters: { continuous_refresh: 'true' } }), 'refresh-1')
    assert.deepEqual(lastForm(), {
      grant_type: 'authorization_code',
      code: 'canary-code',
      redirect_uri: redirectUri,
      code_verifier: 'v'.repeat(43),
      continuous_refresh: 'true',
      client_id: client.id,
      client_secret: client.secret,
    })
  })

  test('is exchanged with the client in the header where the platform wants it there', async () => {
    await exchange({ clientIn: 'header', pkce: false })
    const credentials = Buffer.from(`${client.id}:${client.secret}`).toString('base64')
    assert.equal(platform.received.at(-1)?.headers.authorization, `Basic ${credentials}`)
    assert(!JSON.stringify(lastForm()).includes(client.secret))
  })

  test('is refused where not all was consented to, and where no refresh token is granted', async () => {
    answer = { json: { access_token: 'a', refresh_token: 'refresh-1', scope: 'ads' } }
    assert.match(
      await refusal(),
      /did not grant the scope audiences; authorize the connector again, and consent to all/,
    )
    answer = { json: { access_token: 'a', refresh_token: 'refresh-1', scope: 'audiences,ads' } }
    assert.equal(await exchange(), 'refresh-1')
    answer = { json: { access_token: 'a' } }
    assert.equal(
      await refusal(),
      'Acme Ads granted access without a refresh token, so that it would end soon. Ask Acme for offline access.',
    )
  })

  test('leaves what the platform says out of its errors', async () => {
    for (const [status, json, message] of [
      [400, { error: 'invalid_grant', error_description: 'canary' }, /does not accept the code .*\(invalid_grant\)/],
      [401, { error: 'invalid_client', error_description: 'canary' }, /does not accept the client \(invalid_client\)/],
      [200, { error: 'canary words' }, /sent an invalid response to the request for a token/],
      [503, { error: 'canary' }, /Acme Ads/],
    ] as const) {
      answer = { status, json }
      const text = await refusal()
      assert.match(text, message)
      assert(!text.includes('canary'), text)
    }
  })
})
