import assert from 'node:assert/strict'
import { createHash, generateKeyPairSync, type KeyObject, sign } from 'node:crypto'
import { once } from 'node:events'
import { createServer, type RequestListener, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { BodyOf } from '@penstock/wire'
import type { Organization, TestService } from './service.ts'

/** Identity providers: a real one, `oidc-provider`, and one that answers what a test says. */

const client = { clientId: 'penstock', clientSecret: 'the secret of a client of a test' }
const redirectUri = 'http://penstock.test/sso/callback'

/** Settings that save a provider for an organization. */
export const settingsFor = (
  { issuer }: { issuer: string },
  more: Partial<BodyOf<'setSingleSignOn'>> = {},
): BodyOf<'setSingleSignOn'> => ({ issuer, ...client, required: false, ...more })

async function listen(handler: RequestListener): Promise<{ server: Server; issuer: string }> {
  const server = createServer(handler).listen(0, '127.0.0.1')
  await once(server, 'listening')
  // No test waits for it.
  server.unref()
  return { server, issuer: `http://127.0.0.1:${(server.address() as AddressInfo).port}` }
}

/** A provider's claims about a person, in addition to the subject, which is the login that they enter. */
export type Claims = { email?: unknown; email_verified?: unknown; name?: unknown }

/**
 * A real provider, with a form to sign in and one to consent.
 * @param back the address of the service that it leads back to
 */
export async function startRealProvider(
  t: { after(work: () => void): void },
  people: Readonly<Record<string, Claims>>,
  back = redirectUri,
) {
  let handler: RequestListener = (_, response) => void response.writeHead(503).end()
  const { server, issuer } = await listen((request, response) => handler(request, response))
  t.after(() => {
    server.closeAllConnections()
    server.close()
  })
  // It has no types.
  const { Provider } = (await import('oidc-provider' as string)) as {
    Provider: new (issuer: string, configuration: object) => { callback(): RequestListener }
  }
  const provider = new Provider(issuer, {
    clients: [
      {
        client_id: client.clientId,
        client_secret: client.clientSecret,
        redirect_uris: [back],
        grant_types: ['authorization_code'],
        response_types: ['code'],
      },
    ],
    claims: { openid: ['sub'], email: ['email', 'email_verified'], profile: ['name'] },
    findAccount: (_: unknown, id: string) => ({ accountId: id, claims: () => ({ sub: id, ...people[id] }) }),
    cookies: { keys: ['a key of a test'] },
  })
  handler = provider.callback()
  return { issuer }
}

/** Follows a browser from the address of a provider until it returns. Signs in as `login`, and consents. */
export async function signInAtProvider(address: string, login: string): Promise<string> {
  const cookies = new Map<string, string>()
  let next: { url: string; form?: URLSearchParams } = { url: address }
  for (let steps = 0; steps < 20; steps++) {
    const response = await fetch(next.url, {
      redirect: 'manual',
      method: next.form ? 'POST' : 'GET',
      ...(next.form ? { body: next.form } : {}),
      headers: { cookie: [...cookies].map((pair) => pair.join('=')).join('; ') },
    })
    for (const line of response.headers.getSetCookie()) {
      const [name = '', value = ''] = (line.split(';')[0] ?? '').split(/=(.*)/s)
      cookies.set(name, value)
    }
    const text = await response.text()
    const location = response.headers.get('location')
    if (location !== null) {
      const url = new URL(location, next.url).href
      if (url.startsWith(redirectUri)) return url.slice('http://penstock.test'.length)
      next = { url }
      continue
    }
    const action = /<form[^>]* action="([^"]+)"/.exec(text)?.[1]
    assert(action, `${response.status} ${text.slice(0, 500)}`)
    const prompt = /name="prompt" value="(\w+)"/.exec(text)?.[1] ?? ''
    const form = new URLSearchParams({ prompt, ...(prompt === 'login' ? { login, password: 'any' } : {}) })
    next = { url: new URL(action, next.url).href, form }
  }
  throw new Error('The provider leads nowhere')
}

const encode = (value: object | Buffer) =>
  (Buffer.isBuffer(value) ? value : Buffer.from(JSON.stringify(value))).toString('base64url')

/** A provider of an attacker: its answers are what a test says. */
export type HostileProvider = {
  readonly issuer: string
  /** Requests that reached it: method and path. */
  readonly requests: string[]
  /** ID token in the response of the token endpoint. */
  idToken: string
  /** Response about the user. */
  userInfo: Record<string, unknown>
  metadata: Record<string, unknown>
  /** An ID token for a nonce, with claims of the test's choice. */
  token(nonce: string, claims?: Record<string, unknown>, header?: Record<string, unknown>, key?: KeyObject): string
}

/** All of them have the same keys: it is the issuer that counts. */
const hostileKeys = () => {
  keys ??= generateKeyPairSync('rsa', { modulusLength: 2048 })
  return keys
}
let keys: ReturnType<typeof generateKeyPairSync> | undefined

export async function startHostileProvider(): Promise<HostileProvider> {
  const { privateKey, publicKey } = hostileKeys()
  const kid = createHash('sha256').update('key').digest('hex').slice(0, 8)
  const { issuer } = await listen((request, response) => {
    const path = request.url ?? ''
    provider.requests.push(`${request.method} ${path}`)
    const answers: Record<string, object> = {
      '/.well-known/openid-configuration': provider.metadata,
      '/jwks': { keys: [{ ...publicKey.export({ format: 'jwk' }), kid, alg: 'RS256', use: 'sig' }] },
      '/token': { access_token: 'an access token', token_type: 'Bearer', id_token: provider.idToken },
      '/userinfo': provider.userInfo,
    }
    request.resume()
    response.setHeader('content-type', 'application/json')
    response.writeHead(answers[path] ? 200 : 404).end(JSON.stringify(answers[path] ?? {}))
  })
  const provider: HostileProvider = {
    issuer,
    requests: [],
    idToken: '',
    userInfo: {},
    metadata: {
      issuer,
      authorization_endpoint: `${issuer}/auth`,
      token_endpoint: `${issuer}/token`,
      jwks_uri: `${issuer}/jwks`,
      id_token_signing_alg_values_supported: ['RS256'],
      response_types_supported: ['code'],
      subject_types_supported: ['public'],
    },
    token(nonce, claims = {}, header = {}, key = privateKey) {
      const now = Math.floor(Date.now() / 1000)
      const head = { alg: 'RS256', kid, ...header }
      const usual = { iss: issuer, aud: client.clientId, sub: 'one', nonce, iat: now, exp: now + 60 }
      const signed = `${encode(head)}.${encode({ ...usual, ...claims })}`
      if (head.alg === 'none') return `${signed}.`
      return `${signed}.${encode(sign('sha256', Buffer.from(signed), key))}`
    },
  }
  return provider
}

let shared: Promise<HostileProvider> | undefined
/** One provider, shared by all tests that only need any provider. */
export const anyProvider = (): Promise<HostileProvider> => {
  shared ??= startHostileProvider()
  return shared
}

/** Has an organization sign in with a provider. */
export async function setProvider(
  service: Pick<TestService, 'call'>,
  { token }: Pick<Organization, 'token'>,
  provider: { issuer: string },
  more: Partial<BodyOf<'setSingleSignOn'>> = {},
): Promise<void> {
  const reply = await service.call('setSingleSignOn', { token, body: settingsFor(provider, more) })
  assert.equal(reply.status, 200, reply.text)
}
