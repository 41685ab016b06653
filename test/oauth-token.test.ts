import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { ClientCredentialsProvider } from '@modelcontextprotocol/sdk/client/auth-extensions.js'
import { Client } from '@modelcontextprotocol/sdk/client/index.js'
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js'
import { type Scope, scopeNames } from '@penstock/wire'
import * as oauth from 'oauth4webapi'
import * as openid from 'openid-client'
import { bodies, canary, queryValues } from './harness/rubbish.ts'
import { type Organization, type Reply, startTestService, type TestService } from './harness/service.ts'

/** Tokens by OAuth 2.0 client credentials (RFC 6749) and the metadata that leads to them (RFC 8414, RFC 9728). */

const issuer = 'http://penstock.test'
const serverMetadata = '/.well-known/oauth-authorization-server'
const resourceMetadata = '/.well-known/oauth-protected-resource'
const formType = 'application/x-www-form-urlencoded'

let service: TestService
let organization: Organization
let limited: { client_id: string; client_secret: string }
const limitedScopes: Scope[] = ['accounts:read', 'accounts:write']
before(async () => {
  service = await startTestService({ PENSTOCK_TRUSTED_PROXIES: '127.0.0.1' })
  organization = await service.addOrganization()
  limited = await addLimited(service, organization)
})
after(() => service.close())

async function addLimited(on: TestService, { token }: Organization) {
  const body = { name: 'Limited', scopes: limitedScopes }
  const { id, clientSecret } = (await on.call('createClient', { token, body })).response
  return { client_id: id, client_secret: clientSecret }
}

/** `fetch` of libraries, to the service without a port. */
const fetchFrom =
  (on: TestService) =>
  async (input: string | URL | Request, init?: object): Promise<Response> => {
    const request = new Request(input, init as RequestInit)
    assert.equal(new URL(request.url).origin, issuer)
    const body = await request.text()
    const { status, headers, text } = await on.send({
      method: request.method,
      path: request.url.slice(issuer.length),
      headers: Object.fromEntries(request.headers),
      ...(body === '' ? {} : { body }),
    })
    const given = Object.entries(headers).filter((entry): entry is [string, string] => entry[1] !== undefined)
    return new Response(text, { status, headers: given })
  }

const basic = (id: string, secret: string) => `Basic ${Buffer.from(`${id}:${secret}`).toString('base64')}`
type Form = Record<string, string> | [string, string][] | string
const ask = (form: Form, headers: Record<string, string> = {}, on = service) => {
  const body = new URLSearchParams(form).toString()
  return on.send({ method: 'POST', path: '/oauth/token', headers: { 'content-type': formType, ...headers }, body })
}
const grant = { grant_type: 'client_credentials' }
const own = () => ({ client_id: organization.clientId, client_secret: organization.clientSecret })
const bodyOf = ({ text }: Reply) => JSON.parse(text) as Record<string, unknown>

/** Exactly an error as section 5.2 defines it. */
function assertError(reply: Reply, status: number, error: string, what: string): void {
  const { error: code, error_description: description, ...more } = bodyOf(reply)
  assert.deepEqual([reply.status, code, more], [status, error, {}], what)
  assert.match(String(description), /^[\x20-\x21\x23-\x5b\x5d-\x7e]+$/)
  assert.match(reply.headers['content-type'] ?? '', /^application\/json/)
  assert.deepEqual([reply.headers['cache-control'], reply.headers.pragma], ['no-store', 'no-cache'])
  if (status === 401) assert.match(reply.headers['www-authenticate'] ?? '', /^Basic realm="Penstock"/)
}

describe('an OAuth library', { concurrency: true }, () => {
  const discover = (authentication: openid.ClientAuth, { client_id, client_secret } = own()) =>
    openid.discovery(new URL(issuer), client_id, { client_secret }, authentication, {
      algorithm: 'oauth2',
      execute: [openid.allowInsecureRequests],
      [openid.customFetch]: fetchFrom(service) as openid.CustomFetch,
    })

  for (const [name, authentication] of Object.entries({
    'in the header': openid.ClientSecretBasic(),
    'in the body': openid.ClientSecretPost(),
  })) {
    test(`finds the endpoint and gets a token with the secret ${name}`, async () => {
      const token = await openid.clientCredentialsGrant(await discover(authentication))
      assert.equal(token.expires_in, 86_400)
      assert.equal(token.scope, scopeNames.join(' '))
      assert.equal((await service.call('listUsers', { token: token.access_token })).status, 200)
    })
  }

  test('gets a token with fewer scopes than the client has, and no more than those', async () => {
    const config = await discover(openid.ClientSecretBasic(), limited)
    const whole = await openid.clientCredentialsGrant(config)
    assert.equal(whole.scope, limitedScopes.join(' '))
    const { access_token: token, scope } = await openid.clientCredentialsGrant(config, { scope: 'accounts:read' })
    assert.equal(scope, 'accounts:read')
    assert.equal((await service.call('listAccounts', { token })).status, 200)
    const add = (by: string) => service.call('addAccount', { token: by, body: { name: 'Added' } })
    assert.deepEqual([(await add(token)).status, (await add(whole.access_token)).status], [403, 201])
    await assert.rejects(openid.clientCredentialsGrant(config, { scope: 'accounts:read users:read' }), {
      error: 'invalid_scope',
      status: 400,
    })
  })

  test('of the Model Context Protocol finds the way from /mcp to a token', async () => {
    const { clientId, clientSecret } = organization
    const transport = new StreamableHTTPClientTransport(new URL(`${issuer}/mcp`), {
      authProvider: new ClientCredentialsProvider({ clientId, clientSecret, expectedIssuer: issuer }),
      fetch: fetchFrom(service),
    })
    const client = new Client({ name: 'test', version: '1' })
    await client.connect(transport as never)
    assert((await client.listTools()).tools.length > 10)
    await client.close()
  })

  for (const path of ['', '/mcp']) {
    test(`accepts the metadata of the resource ${issuer}${path}`, async () => {
      const resource = new URL(`${issuer}${path}`)
      const reply = await oauth.resourceDiscoveryRequest(resource, {
        [oauth.customFetch]: fetchFrom(service) as never,
        [oauth.allowInsecureRequests]: true,
      })
      const { authorization_servers } = await oauth.processResourceDiscoveryResponse(resource, reply)
      assert.deepEqual(authorization_servers, [issuer])
    })
  }
})

describe('POST /oauth/token', () => {
  test('ignores unknown parameters, and takes those without a value as omitted', async () => {
    const more: [string, string][] = [
      ['resource', 'a'],
      ['resource', 'b'],
      ['scope', ''],
      ['__proto__', 'x'],
    ]
    const reply = await ask([...Object.entries({ ...grant, ...own() }), ...more])
    const { access_token, ...rest } = bodyOf(reply)
    assert.match(String(access_token), /^pst_/)
    assert.deepEqual(rest, { token_type: 'Bearer', expires_in: 86_400, scope: scopeNames.join(' ') })
    assert.deepEqual([reply.headers['cache-control'], reply.headers.pragma], ['no-store', 'no-cache'])
  })

  test('decodes what Basic encodes, and takes the same client_id in the body', async () => {
    const { clientId, clientSecret } = organization
    const encoded = [...clientId].map((letter) => `%${letter.charCodeAt(0).toString(16)}`).join('')
    const headers = { authorization: basic(encoded, clientSecret) }
    assert.equal((await ask({ ...grant, client_id: clientId }, headers)).status, 200)
  })

  test('refuses what the RFC refuses, in its format', async () => {
    const { clientId, clientSecret } = organization
    const authorization = basic(clientId, clientSecret)
    const refused: [string, Form, Record<string, string>, number, string][] = [
      ['nothing', {}, {}, 400, 'invalid_request'],
      ['no grant type', own(), {}, 400, 'invalid_request'],
      ['another grant type', { ...own(), grant_type: 'password' }, {}, 400, 'unsupported_grant_type'],
      [
        'a parameter twice',
        [...Object.entries({ ...grant, ...own() }), ['scope', 'a'], ['scope', 'a']],
        {},
        400,
        'invalid_request',
      ],
      ['no authentication', grant, {}, 401, 'invalid_client'],
      ['no secret', { ...grant, client_id: clientId }, {}, 401, 'invalid_client'],
      ['a wrong secret', { ...grant, ...own(), client_secret: 'wrong' }, {}, 401, 'invalid_client'],
      ['both authentications', { ...grant, ...own() }, { authorization }, 400, 'invalid_request'],
      ['another client in the body', { ...grant, client_id: 'other' }, { authorization }, 400, 'invalid_request'],
      ['a wrong secret in the header', grant, { authorization: basic(clientId, 'x') }, 401, 'invalid_client'],
      ['a token', grant, { authorization: `Bearer ${organization.token}` }, 401, 'invalid_client'],
      ['an unknown scope', { ...grant, ...own(), scope: 'accounts:read x\0"' }, {}, 400, 'invalid_scope'],
      ['blanks as scopes', { ...grant, ...own(), scope: '  ' }, {}, 400, 'invalid_scope'],
      ['JSON', JSON.stringify({ ...grant, ...own() }), { 'content-type': 'application/json' }, 400, 'invalid_request'],
      ['an encoding', { ...grant, ...own() }, { 'content-encoding': 'gzip' }, 400, 'invalid_request'],
      ['a long body', { ...grant, ...own(), x: 'x'.repeat(20_000) }, {}, 400, 'invalid_request'],
    ]
    const count = async () =>
      (await service.database.pool.query('select from tokens where client_id = $1', [clientId])).rowCount
    const before = await count()
    for (const [what, form, headers, status, error] of refused) {
      assertError(await ask(form, headers), status, error, what)
    }
    assert.equal(await count(), before)
    for (const method of ['GET', 'PUT', 'DELETE', 'OPTIONS', 'PROPFIND']) {
      const reply = await service.send({ method, path: '/oauth/token' })
      assertError(reply, 405, 'invalid_request', method)
      assert.equal(reply.headers.allow, 'POST')
    }
  })

  test('answers rubbish with an error of the RFC that repeats nothing', async () => {
    let requests = 0
    const refused = async (what: string, headers: Record<string, string>, body: string | Buffer) => {
      const from = { 'x-forwarded-for': `192.0.2.${++requests % 250}` }
      const reply = await service.send({ method: 'POST', path: '/oauth/token', headers: { ...from, ...headers }, body })
      assert([400, 401].includes(reply.status), `${what}: ${reply.status} ${reply.text}`)
      assertError(reply, reply.status, String(bodyOf(reply).error), what)
      assert(!reply.text.includes(canary), what)
    }
    for (const [what, body] of Object.entries(bodies)) {
      for (const type of [formType, 'application/json', 'text/plain'])
        await refused(what, { 'content-type': type }, body)
    }
    for (const [what, value] of Object.entries(queryValues)) {
      const type = { 'content-type': formType }
      const form = 'grant_type=client_credentials'
      for (const rest of [
        `client_id=${value}&client_secret=x`,
        `client_id=x&client_secret=${value}`,
        `scope=${value}`,
      ]) {
        await refused(what, type, `${form}&${rest}`)
      }
      await refused(what, { ...type, authorization: basic(value, value) }, form)
      await refused(what, { ...type, authorization: `Basic ${value}` }, form)
    }
  })

  test('counts failures together with the operation of the API, and is limited with it', async () => {
    const headers = { 'x-forwarded-for': '198.51.100.1' }
    const { clientId, clientSecret } = await service.addOrganization()
    for (let i = 0; i < 5; i++) {
      const body = { clientId, clientSecret: `guess ${i}` }
      const form = { ...grant, client_id: clientId, client_secret: body.clientSecret }
      assert.equal((await ask(form, headers)).status, 401)
      assert.equal((await service.call('createToken', { body, headers })).status, 401)
    }
    const reply = await ask({ ...grant, client_id: clientId, client_secret: clientSecret }, headers)
    assertError(reply, 429, 'temporarily_unavailable', 'right credentials after too many guesses')
    assert(Number(reply.headers['retry-after']) > 0)
  })

  test('is recorded in the audit log like the operation of the API', async () => {
    const { organizationId, clientId, clientSecret } = await service.addOrganization()
    const outcomes = { [clientSecret]: 'done', wrong: 'failed' }
    for (const [client_secret, outcome] of Object.entries(outcomes)) {
      const { headers } = await ask({ ...grant, client_id: clientId, client_secret })
      await service.service.settleAudit()
      const { rows } = await service.database.pool.query(
        'select organization_id, actor_id, action, outcome from audit_events where request_id = $1',
        [headers['x-request-id']],
      )
      assert.deepEqual(
        rows.map((row) => Object.values(row)),
        [[organizationId, clientId, 'createToken', outcome]],
      )
    }
  })
})

describe('the metadata', { concurrency: true }, () => {
  const read = async (path: string, on = service) => {
    const reply = await on.send({ method: 'GET', path })
    assert.equal(reply.status, 200, path)
    return bodyOf(reply)
  }

  test('of the server names what it supports', async () => {
    assert.deepEqual(await read(serverMetadata), {
      issuer,
      authorization_endpoint: `${issuer}/oauth/authorize`,
      token_endpoint: `${issuer}/oauth/token`,
      response_types_supported: [],
      grant_types_supported: ['client_credentials'],
      token_endpoint_auth_methods_supported: ['client_secret_basic', 'client_secret_post'],
      scopes_supported: scopeNames,
      service_documentation: `${issuer}/docs/guides/access`,
    })
    const page = await service.send({ method: 'GET', path: '/oauth/authorize?response_type=code&client_id=x' })
    assert.equal(page.status, 400)
    assert.match(page.headers['content-type'] ?? '', /^text\/html/)
  })

  test('is named by /mcp to a caller without a token', async () => {
    const { status, headers } = await service.send({ method: 'POST', path: '/mcp' })
    assert.deepEqual(
      [status, headers['www-authenticate']],
      [401, `Bearer resource_metadata="${issuer}${resourceMetadata}/mcp"`],
    )
  })

  test('is also at the addresses of a public URL with a path', async () => {
    const base = `${issuer}/tools`
    const own = await startTestService({ PENSTOCK_PUBLIC_URL: base })
    for (const path of [serverMetadata, `${serverMetadata}/tools`]) {
      const { issuer, token_endpoint } = await read(path, own)
      assert.deepEqual([issuer, token_endpoint], [base, `${base}/oauth/token`])
    }
    for (const path of ['', '/tools']) {
      assert.equal((await read(`${resourceMetadata}${path}`, own)).resource, base)
      assert.equal((await read(`${resourceMetadata}${path}/mcp`, own)).resource, `${base}/mcp`)
    }
    await own.close()
  })
})
