import assert from 'node:assert/strict'
import { after, beforeEach, describe, test } from 'node:test'
import { savedSecrets, type TestContextOptions, testContext } from '@penstock/connector/acceptance'
import { exportJWK, generateKeyPair, SignJWT } from 'jose'
import { Events, type MutableResponse, type MutableToken, OAuth2Server, type TokenRequest } from 'oauth2-mock-server'
import { connectorErrorOf, startPlatform } from '../../test/platform-server.ts'
import { openPlatform } from './client.ts'
import { openTokens, type TokenOptions } from './oauth.ts'

/** An authorization server that is not ours. */
const authorization = new OAuth2Server()
await authorization.issuer.keys.generate('RS256')
await authorization.start(0, '127.0.0.1')
const { service } = authorization
const url = `${authorization.issuer.url}/token`
/** A token endpoint whose answers the test defines. */
let answer: { status?: number; headers?: Record<string, string>; json?: unknown; text?: string } = {}
const lax = await startPlatform(() => answer)
after(async () => {
  await authorization.stop()
  await lax.close()
})

type Asked = TokenRequest & Record<string, string>
const asked: { body: Asked; authorization: string | undefined }[] = []
let number = 0
service.on(Events.BeforeTokenSigning, (token: MutableToken) => {
  token.payload.jti = String(++number)
})
service.on(
  Events.BeforeResponse,
  (_: MutableResponse, request: { body: Asked; headers: { authorization?: string } }) => {
    asked.push({ body: { ...request.body }, authorization: request.headers.authorization })
  },
)
/** Changes the next answer of the authorization server. */
const change = (edit: (response: MutableResponse, request: { body: Asked }) => void) =>
  service.once(Events.BeforeResponse, edit)
beforeEach(() => {
  asked.length = 0
})

const secrets = { clientSecret: 'secret-of-the-client', refreshToken: 'refresh-token-0' }
const contextOf = (more: TestContextOptions = {}) => testContext({ secrets, ...more })
const client = { id: 'client-1', secret: secrets.clientSecret }
const credentials: TokenOptions = { platform: 'Acme Ads', url, grant: { type: 'client_credentials' }, client }
const refusal = (options: TokenOptions, context = contextOf()) =>
  connectorErrorOf(openTokens(context, options).token(), context)
/** Sets the response of the test's own token endpoint. */
const laxly = (given: typeof answer, more: Partial<TokenOptions> = {}): TokenOptions => {
  answer = given
  return { ...credentials, url: `${lax.url}/token`, ...more }
}

describe('client credentials', () => {
  test('travel in the body, with the scope and the parameters of the platform', async () => {
    const options = { ...credentials, scope: 'ads audiences', parameters: { audience: 'https://acme.example' } }
    const token = await openTokens(contextOf(), options).token()
    assert.equal(token.split('.').length, 3)
    assert.deepEqual(
      asked.map(({ body }) => body),
      [
        {
          grant_type: 'client_credentials',
          client_id: 'client-1',
          client_secret: secrets.clientSecret,
          scope: 'ads audiences',
          audience: 'https://acme.example',
        },
      ],
    )
  })

  test('travel in the header where the platform wants it, encoded only where they must be', async () => {
    const header = { id: 'app-1_x', secret: 'a.b~c-d_e/f:g', in: 'header' } as const
    await openTokens(contextOf(), { ...credentials, client: header }).token()
    assert.deepEqual(asked[0]?.body, { grant_type: 'client_credentials' })
    const sent = Buffer.from(String(asked[0]?.authorization).slice(6), 'base64').toString()
    assert.equal(sent, 'app-1_x:a.b~c-d_e%2Ff%3Ag')
  })

  test('that are empty are not sent', async () => {
    for (const missing of [{ id: '' }, { id: 'a', secret: '' }]) {
      assert.equal((await refusal({ ...credentials, client: missing })).code, 'invalid_credentials')
    }
    assert.equal(asked.length, 0)
  })
})

describe('a token', () => {
  test('is used again, and asked for once by all who need it', async () => {
    const tokens = openTokens(contextOf(), credentials)
    const got = await Promise.all(Array.from({ length: 5 }, () => tokens.token()))
    assert.equal(new Set(got).size, 1)
    assert.equal(await tokens.token(), got[0])
    assert.equal(asked.length, 1)
    assert.deepEqual(await tokens.headers(), { authorization: `Bearer ${got[0]}` })
  })

  test('that could not be obtained is asked for again', async () => {
    const tokens = openTokens(contextOf(), credentials)
    change((response) => Object.assign(response, { statusCode: 503, body: {} }))
    await assert.rejects(tokens.token(), { code: 'platform_error' })
    assert.ok(await tokens.token())
  })

  test('is renewed before it ends, and where nothing says when, after a while', async () => {
    const lives = { access_token: 'short', token_type: 'Bearer' }
    for (const [expires, wanted] of [
      [0.001, 2],
      ['0.001', 2],
      [3600, 1],
      ['3600', 1],
      [undefined, 1],
      [null, 1],
      [0, 1],
      [-5, 1],
      ['never', 1],
      [1e300, 1],
    ]) {
      const before = lax.received.length
      const tokens = openTokens(contextOf(), laxly({ json: { ...lives, expires_in: expires } }))
      await tokens.token()
      await until(() => tokens.token().then(() => lax.received.length - before >= Number(wanted)))
      assert.equal(lax.received.length - before, wanted, String(expires))
    }
  })

  test('that ends in the middle of work is renewed once by all requests together', async () => {
    const valid = new Set<string>()
    const api = await startPlatform(({ headers }) =>
      valid.has(String(headers.authorization)) ? { json: {} } : { status: 401, json: {} },
    )
    const tokens = openTokens(contextOf(), credentials)
    service.on(Events.BeforeResponse, note)
    function note({ body }: MutableResponse) {
      valid.clear()
      if (typeof body === 'object') valid.add(`Bearer ${body.access_token}`)
    }
    const acme = openPlatform(contextOf(), { name: 'Acme Ads', baseUrl: api.url, credentials: tokens })
    await acme.ask({ path: '/x' })
    assert.equal(asked.length, 1)
    valid.clear()
    const post = { path: '/x', method: 'POST', body: {} } as const
    await Promise.all(Array.from({ length: 6 }, () => acme.ask(post)))
    assert.equal(asked.length, 2)
    assert.equal(api.received.length, 1 + 6 + 6)
    service.off(Events.BeforeResponse, note)
    await api.close()
  })

  test('is no longer waited for once the job ends', async () => {
    const ending = new AbortController()
    const context = contextOf({ signal: ending.signal })
    lax.failure(/token/, 'hang')
    const waiting = openTokens(context, laxly({})).token()
    await lax.hanging()
    ending.abort(new Error('the job ends'))
    await assert.rejects(waiting, /the job ends/)
  })

  test('that is there can still be used where the job has ended', async () => {
    const ending = new AbortController()
    const tokens = openTokens(contextOf({ signal: ending.signal }), credentials)
    const token = await tokens.token()
    ending.abort(new Error('the job ends'))
    assert.equal(await tokens.token(), token)
    await assert.rejects(tokens.token(token), /the job ends/)
  })
})

describe('a refresh token', () => {
  const refreshing: TokenOptions = { ...credentials, grant: { type: 'refresh_token' } }
  const rotating: TokenOptions = { ...credentials, grant: { type: 'refresh_token', rotates: true } }

  test('that stays is sent each time and never saved', async () => {
    const context = contextOf({ saveSecret: () => assert.fail('nothing rotates here') })
    const tokens = openTokens(context, refreshing)
    const first = await tokens.token()
    assert.notEqual(await tokens.token(first), first)
    assert.deepEqual(
      asked.map(({ body }) => body.refresh_token),
      ['refresh-token-0', 'refresh-token-0'],
    )
  })

  test('that rotates is replaced by the one that comes with the token', async () => {
    const saved: string[] = []
    const save = savedSecrets(secrets)
    const saveSecret = async (key: string, renew: (current: string) => Promise<string>) => {
      const value = await save(key, renew)
      saved.push(`${key}: ${value}`)
      return value
    }
    service.on(Events.BeforeResponse, number_)
    function number_({ body }: MutableResponse, request: { body: Asked }) {
      if (typeof body === 'object')
        body.refresh_token = request.body.refresh_token?.replace(/\d+/, (n) => String(+n + 1))
    }
    // Two jobs that share the saved token.
    const jobs = [1, 2].map(() => openTokens(contextOf({ saveSecret }), rotating))
    const got = await Promise.all(jobs.flatMap((tokens) => [tokens.token(), tokens.token()]))
    assert.equal(new Set(got).size, 2)
    assert.deepEqual(
      asked.map(({ body }) => body.refresh_token),
      ['refresh-token-0', 'refresh-token-1'],
    )
    assert.deepEqual(saved, ['refreshToken: refresh-token-1', 'refreshToken: refresh-token-2'])
    service.off(Events.BeforeResponse, number_)
  })

  test('stays where the platform gives no other, or one that is none', async () => {
    for (const refresh_token of [undefined, null, '', 7, {}, 'line\nbreak', 'x'.repeat(20_000)]) {
      let saved = ''
      const save = savedSecrets(secrets)
      const context = contextOf({ saveSecret: async (key, renew) => (saved = await save(key, renew)) })
      const json = { access_token: 'a', token_type: 'bearer', refresh_token }
      assert.equal(await openTokens(context, laxly({ json }, { grant: rotating.grant })).token(), 'a')
      assert.equal(saved, 'refresh-token-0')
    }
  })

  test('that was sent is saved although the job ends before the answer comes', async () => {
    const ending = new AbortController()
    const done = Promise.withResolvers<string>()
    const save = savedSecrets(secrets)
    const saveSecret = (key: string, renew: (current: string) => Promise<string>) => {
      const saving = save(key, renew)
      saving.then(done.resolve, done.reject)
      return saving
    }
    // The job ends while the request is on its way.
    change((response) => {
      ending.abort(new Error('the job ends'))
      Object.assign(response.body, { refresh_token: 'refresh-token-1' })
    })
    const context = contextOf({ signal: ending.signal, saveSecret })
    await assert.rejects(openTokens(context, rotating).token(), /the job ends/)
    assert.equal(await done.promise, 'refresh-token-1')
    // A job that ended uses no further one.
    await assert.rejects(openTokens(context, rotating).token(), /the job ends/)
  })

  test('that is missing is not sent', async () => {
    for (const grant of [refreshing.grant, rotating.grant]) {
      const { code, message } = await refusal({ ...credentials, grant }, testContext())
      assert.deepEqual(
        [code, message],
        [
          'invalid_credentials',
          'There is no refresh token; sign in to Acme Ads again and save what it gives in the connector.',
        ],
      )
    }
    assert.equal(asked.length, 0)
  })

  test('that was revoked asks the person to sign in again', async () => {
    change((response) =>
      Object.assign(response, {
        statusCode: 400,
        body: { error: 'invalid_grant', error_description: 'refresh-token-0 was used' },
      }),
    )
    const { code, message } = await refusal(refreshing)
    assert.equal(code, 'invalid_credentials')
    assert.equal(
      message,
      'Acme Ads does not accept the refresh token any more (invalid_grant): it expired or was revoked; sign in to Acme Ads again and save what it gives in the connector.',
    )
  })
})

describe('a signed assertion', () => {
  test('is made for each token, and says who asks', async () => {
    const { privateKey, publicKey } = await generateKeyPair('RS256')
    assert.ok(await exportJWK(publicKey))
    let made = 0
    const assertion = () => {
      made++
      return new SignJWT({})
        .setProtectedHeader({ alg: 'RS256' })
        .setSubject('robot@acme')
        .setAudience(url)
        .sign(privateKey)
    }
    const tokens = openTokens(contextOf(), { platform: 'Acme Ads', url, grant: { type: 'jwt_bearer', assertion } })
    const first = await tokens.token()
    await tokens.token(first)
    assert.equal(made, 2)
    const { grant_type, assertion: sent, ...rest } = asked[0]?.body ?? assert.fail()
    assert.equal(grant_type, 'urn:ietf:params:oauth:grant-type:jwt-bearer')
    assert.equal(String(sent).split('.').length, 3)
    assert.deepEqual(rest, {})
  })

  test('whose key is gone says what to do', async () => {
    const grant = { type: 'jwt_bearer', assertion: async () => 'a.b.c' } as const
    const options = laxly({ status: 400, json: { error: 'invalid_grant' } }, { grant, renewal: 'make a new key' })
    assert.match((await refusal(options)).message, /signed key any more \(invalid_grant\).*; make a new key\.$/)
  })
})

describe('a token endpoint', () => {
  test('that refuses says what to correct', async () => {
    const refusals: [typeof answer, string, RegExp?][] = [
      [{ status: 429, headers: { 'retry-after': '90' } }, 'rate_limited'],
      [{ status: 500, text: '<html>' }, 'platform_error'],
      [{ status: 400, json: { error: 'temporarily_unavailable' } }, 'platform_unavailable'],
      [{ status: 401, json: { error: 'invalid_client' } }, 'invalid_credentials', /\(invalid_client\); check its ID/],
      [{ status: 403, text: 'no' }, 'invalid_credentials'],
      [{ status: 400, json: { error: { message: 'nested' } } }, 'invalid_credentials', /the client; check/],
      [{ status: 400, json: { error: 'invalid_scope' } }, 'permission_denied'],
      [{ status: 400, json: { error: 'access_denied' } }, 'permission_denied'],
      [{ status: 404, text: 'gone' }, 'object_not_found'],
      [{ status: 302, headers: { location: '/elsewhere' } }, 'unexpected_response'],
      [{ status: 204 }, 'malformed_response'],
      // A failure with the status of a success.
      [{ json: { error: 'invalid_grant' } }, 'invalid_credentials'],
      [{ json: { error: 'bad_verification_code' } }, 'invalid_credentials'],
      [{ json: { error: 'secret-of-the-client' } }, 'malformed_response'],
    ]
    for (const [given, code, message = /./] of refusals) {
      const error = await refusal(laxly(given))
      assert.equal(error.code, code, JSON.stringify(given))
      assert.match(error.message, message)
    }
    assert.equal((await refusal(laxly({ status: 429, headers: { 'retry-after': '90' } }))).afterMs, 90_000)
  })

  test('that answers anything at all gives a token or an error', async () => {
    const broken = [
      { text: '<html>Sign in</html>' },
      { text: '{"access_token":"cut' },
      { json: null },
      { json: [] },
      { json: 'token' },
      { json: {} },
      { json: { token_type: 'bearer' } },
      ...[null, 7, '', {}, ['a'], 'two words', 'line\r\nx-evil: 1', 'ümlaut', 'x'.repeat(20_000)].map((token) => ({
        json: { access_token: token, token_type: 'bearer' },
      })),
      // A token that proves nothing if it is only sent along.
      { json: { access_token: 'a', token_type: 'mac' } },
    ]
    for (const given of broken) {
      assert.equal((await refusal(laxly(given))).code, 'malformed_response', JSON.stringify(given).slice(0, 100))
    }
  })

  test('that keeps to the standard loosely is understood', async () => {
    for (const [status, json] of [
      [200, { access_token: 'good' }],
      [201, { access_token: 'good', token_type: 'BEARER', expires_in: '3600', refresh_token: null, scope: null }],
      [200, { access_token: 'good', token_type: 'Bearer', id_token: 'no.such.token', scope: ['a', 7] }],
      [200, { access_token: 'good', token_type: null, expires_in: {}, error: null }],
    ] as const) {
      assert.equal(await openTokens(contextOf(), laxly({ status, json })).token(), 'good')
    }
  })

  test('that breaks off, or is nowhere, is an error that passes', async () => {
    lax.failure(/token/, 'reset')
    assert.equal((await refusal(laxly({}))).action, 'retry')
    assert.equal((await refusal({ ...credentials, url: 'no address' })).code, 'invalid_address')
  })
})

describe('scopes', () => {
  const granting = (scope: unknown, wanted: string) =>
    laxly({ json: { access_token: 'good', token_type: 'bearer', scope } }, { scope: wanted })

  test('that were not granted are named', async () => {
    for (const scope of ['ads', 'audiences', ['ads'], 'ads,audiences_read']) {
      const error = await refusal(granting(scope, 'ads audiences profile events'))
      assert.equal(error.code, 'permission_denied')
      assert.match(error.message, /did not grant the scope (audiences|ads|events);/)
    }
  })

  test('that were granted, or are not spoken of, are enough', async () => {
    for (const scope of ['ads audiences', 'audiences,ads', 'audiences more ads', ['ads', 'audiences'], undefined, '']) {
      assert.equal(await openTokens(contextOf(), granting(scope, 'ads audiences')).token(), 'good', String(scope))
    }
    const wide = granting('ads.manage', 'ads.manage offline_access openid https://api.acme.example/.default')
    assert.equal(await openTokens(contextOf(), wide).token(), 'good')
  })
})

/** Waits for a condition, one turn of the event loop at a time. */
async function until(condition: () => Promise<boolean>): Promise<void> {
  for (let tries = 0; tries < 20_000 && !(await condition()); tries++) await new Promise(setImmediate)
}
