import assert from 'node:assert/strict'
import { globSync } from 'node:fs'
import type { AddressInfo } from 'node:net'
import { after, before, describe, test } from 'node:test'
import { connectors, platforms } from '@penstock/connectors'
import { consoleDistPath, pageRoots } from '@penstock/console'
import { basePath, type Operation, operations } from '@penstock/wire'
import { exchange } from './harness/raw-http.ts'
import { type Organization, type RawRequest, startTestService, type TestService } from './harness/service.ts'

/** Every answer has the headers that restrict what browsers do with it. */

const fixed = {
  'x-content-type-options': 'nosniff',
  'referrer-policy': 'same-origin',
  'cross-origin-opener-policy': 'same-origin',
  'strict-transport-security': 'max-age=31536000',
}

type Headers = Readonly<Record<string, string | undefined>>

function assertSecured(headers: Headers, what: string, resources = 'same-origin'): void {
  for (const [name, value] of Object.entries(fixed)) assert.equal(headers[name], value, `${what}: ${name}`)
  assert.equal(headers['cross-origin-resource-policy'], resources, what)
  assert.match(headers['permissions-policy'] ?? '', /camera=\(\).*microphone=\(\)/, what)
  assert.match(headers['content-security-policy'] ?? '', /default-src '(none|self)'/, what)
  assert.match(headers['x-request-id'] ?? '', /^[0-9a-f]{16}$/, what)
}

describe('the headers of security', () => {
  let service: TestService
  let organization: Organization
  let port: number
  const origin = 'https://app.example'
  before(async () => {
    service = await startTestService({ PENSTOCK_PUBLIC_URL: 'https://penstock.test', PENSTOCK_CORS_ORIGINS: origin })
    organization = await service.addOrganization()
    await service.service.app.listen({ port: 0, host: '127.0.0.1' })
    port = (service.service.app.server.address() as AddressInfo).port
  })
  after(() => service.close())

  const json = { 'content-type': 'application/json' }
  const bearer = () => ({ authorization: `Bearer ${organization.token}` })
  const secured = async (request: RawRequest, status?: number, resources?: string) => {
    const what = `${request.method} ${request.path}`
    const reply = await service.send(request)
    if (status !== undefined) assert.equal(reply.status, status, `${what}: ${reply.text.slice(0, 200)}`)
    assertSecured(reply.headers, `${what} ${reply.status}`, resources)
    return reply
  }

  test('are on every operation, answered and refused', async () => {
    for (const operation of Object.values<Operation>(operations)) {
      const path = basePath + operation.path.replaceAll(/\{\w+\}/g, '0123456789abcdef')
      const { method } = operation
      // Operations without a token and a body refuse nothing.
      await secured({ method, path }, operation.actsIn !== 'public' ? 401 : operation.body ? 400 : undefined)
      await secured({ method, path, headers: { ...bearer(), ...json }, body: '{}' })
      await secured({ method: 'PATCH', path }, 405)
    }
    await secured({ method: 'GET', path: `${basePath}/accounts`, headers: bearer() }, 200)
    await secured({ method: 'HEAD', path: `${basePath}/accounts`, headers: bearer() }, 200)
    const body = JSON.stringify({ name: 'Made' })
    await secured({ method: 'POST', path: `${basePath}/accounts`, headers: { ...bearer(), ...json }, body }, 201)
  })

  test('are on documents, logos, the console and its files, and what operators ask for', async () => {
    const [connector, platform] = [connectors[0]?.slug, platforms[0]?.slug]
    const assets = globSync('assets/*.{js,css}', { cwd: consoleDistPath })
    assert(assets.length > 0, 'the console is built')
    for (const path of [
      '/docs',
      '/docs/connectors',
      `/docs/connectors/${connector}`,
      `/docs/platforms/${platform}`,
      '/docs/assets/style.css',
      '/docs/assets/reference.js',
      '/docs/assets/scalar.js',
      `${basePath}/openapi.json`,
      '/',
      ...pageRoots.map((root) => `/${root}`),
      `/console/${assets[0]}`,
      '/healthz',
      '/readyz',
      '/metrics',
    ]) {
      const { headers } = await secured({ method: 'GET', path }, 200)
      if (headers.etag) await secured({ method: 'GET', path, headers: { 'if-none-match': headers.etag } }, 304)
    }
    for (const path of [`/logos/${platform}.svg`, '/docs/assets/icon.svg']) {
      await secured({ method: 'GET', path }, 200, 'cross-origin')
    }
    await secured({ method: 'GET', path: '/docs/' }, 308)
  })

  test('are on refusals that no operation makes', async () => {
    const post = { method: 'POST', path: `${basePath}/accounts` }
    await secured({ method: 'GET', path: '/nothing' }, 404)
    await secured({ method: 'GET', path: '/console/assets/nothing.js' }, 404)
    await secured({ method: 'GET', path: '/docs/connectors/nothing' }, 404)
    await secured({ method: 'GET', path: '/%zz' }, 404)
    await secured({ ...post, headers: { ...bearer(), ...json }, body: '{' }, 400)
    await secured({ ...post, headers: { ...bearer(), 'content-type': 'text/plain' }, body: 'x' }, 415)
    await secured({ ...post, headers: { ...bearer(), ...json }, body: `"${'x'.repeat(2 ** 20)}"` }, 413)
    const asked = { origin, 'access-control-request-method': 'PUT' }
    await secured({ method: 'OPTIONS', path: `${basePath}/accounts`, headers: asked }, 204)
  })

  test('are on what is answered before there is a request', async () => {
    for (const [bytes, status] of [
      ['\x00\x01\r\n\r\n', 400],
      [`GET / HTTP/1.1\r\nHost: x\r\nX-Long: ${'x'.repeat(20_000)}\r\n\r\n`, 431],
      ['GET / HTTP/1.1\r\nConnection: close\r\n\r\n', 400],
    ] as const) {
      const reply = await exchange(port, bytes)
      assert.equal(reply.status, status)
      assertSecured(reply.headers, JSON.stringify(bytes.slice(0, 30)))
    }
  })
})

test('TLS is asked for only where the public address has it', async (t) => {
  const service = await startTestService({ PENSTOCK_PUBLIC_URL: 'http://penstock.test' })
  t.after(service.close)
  for (const path of ['/', `${basePath}/accounts`, '/nothing']) {
    const { headers } = await service.send({ method: 'GET', path })
    assert.equal(headers['strict-transport-security'], undefined)
    assert.equal(headers['x-content-type-options'], 'nosniff')
  }
})
