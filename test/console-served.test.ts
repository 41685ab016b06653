import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { pageRoots } from '@penstock/console'
import { startTestService, type TestService } from './harness/service.ts'

describe('the console is served', () => {
  let service: TestService
  before(async () => {
    service = await startTestService({ PENSTOCK_PUBLIC_URL: 'https://example.com/data/' })
  })
  after(() => service.close())

  const get = (path: string, headers: Record<string, string> = {}) => service.send({ method: 'GET', path, headers })

  for (const path of ['/', ...pageRoots.map((root) => `/${root}`), '/accounts/0123456789abcdef/connections?q=x']) {
    test(`at ${path}`, async () => {
      const reply = await get(path)
      assert.equal(reply.status, 200)
      assert.match(reply.headers['content-type'] ?? '', /^text\/html/)
      assert.match(reply.text, /<div id="console">/)
    })
  }

  test('with a policy that lets in no script but its own', async () => {
    const { headers, text } = await get('/')
    const policy = headers['content-security-policy'] ?? ''
    assert.match(policy, /default-src 'none'/)
    assert.match(policy, /script-src 'self'(;|$)/)
    assert.match(policy, /frame-ancestors 'none'/)
    assert.doesNotMatch(text, /<script(?![^>]*\bsrc=)/, 'a script in the page itself')
    assert.doesNotMatch(text, /\bon\w+=/, 'a script in an attribute')
  })

  test('under the path of the public address, which its files and its calls begin with', async () => {
    const { text } = await get('/')
    const sources = [...text.matchAll(/(?:src|href)="([^"]+)"/g)].map(([, address = '']) => address)
    assert(sources.length >= 3)
    for (const address of sources) assert.match(address, /^\/data\//)
    assert.match(text, /name="penstock-prefix" content="\/data"/)
  })

  test('with files that are compressed, and cached permanently', async () => {
    const { text } = await get('/')
    const script = /src="\/data(\/console\/assets\/[^"]+\.js)"/.exec(text)?.[1] ?? ''
    for (const [accepted, encoding] of [
      ['br, gzip', 'br'],
      ['gzip', 'gzip'],
      ['identity', undefined],
    ] as const) {
      const reply = await get(script, { 'accept-encoding': accepted })
      assert.equal(reply.status, 200)
      assert.equal(reply.headers['content-encoding'], encoding)
      assert.match(reply.headers['cache-control'] ?? '', /immutable/)
      assert.match(reply.headers['content-type'] ?? '', /javascript/)
    }
  })

  test('as a page that is compressed if the client accepts it, each encoding with its own tag', async () => {
    const plain = await get('/')
    assert.equal(plain.headers.vary, 'accept-encoding')
    const tags = new Set([plain.headers.etag])
    for (const [accepted, encoding] of [
      ['gzip, deflate, br, zstd', 'br'],
      ['gzip', 'gzip'],
      ['GZIP;q=0.5, br;q=0', 'gzip'],
      ['br;q=0, identity', undefined],
      ['*', undefined],
    ] as const) {
      const { status, headers } = await get('/', { 'accept-encoding': accepted })
      assert.deepEqual([status, headers['content-encoding']], [200, encoding], accepted)
      tags.add(headers.etag)
      const again = await get('/', { 'accept-encoding': accepted, 'if-none-match': headers.etag ?? '' })
      assert.equal(again.status, 304)
    }
    assert.equal(tags.size, 3)
  })

  test('and nothing else is: what is no page and no file is refused as everywhere', async () => {
    for (const path of [
      '/nothing',
      '/console/assets/nothing.js',
      '/console/assets/../../package.json',
      '/es/v2/nothing',
    ]) {
      const reply = await get(path)
      assert.equal(reply.status, 404, path)
      assert.match(reply.headers['content-type'] ?? '', /json/, path)
    }
  })

  test('a browser that opens an address without a page gets a page that says so', async () => {
    const browser = { accept: 'text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8' }
    for (const path of [
      '/nonsense',
      '/docs/nonsense',
      '/docs/guides/nonsense',
      '/console/nonsense/x',
      '/%zz',
      '/es/v1',
    ]) {
      const { status, headers, text } = await get(path, browser)
      assert.deepEqual([status, headers['content-type']], [404, 'text/html; charset=utf-8'], path)
      assert.match(headers['content-security-policy'] ?? '', /default-src 'none'/)
      assert.equal(headers['cache-control'], 'no-store')
      for (const link of ['/data/', '/data/docs/guides', '/data/docs', '/data/docs/connectors']) {
        assert(text.includes(`<a href="${link}">`), `${path}: ${link}`)
      }
      assert(!text.includes('nonsense'), path)
    }
    const head = await service.send({ method: 'HEAD', path: '/nonsense', headers: browser })
    assert.deepEqual([head.status, head.text], [404, ''])
  })

  test('clients of the API get its envelope, at its addresses in a browser too', async () => {
    for (const [method, path, accept] of [
      ['GET', '/es/v2/nonsense', 'text/html'],
      ['GET', '/es/v2', 'text/html'],
      ['GET', '/es/v2?q=x', 'text/html'],
      ['POST', '/nonsense', 'text/html'],
      ['GET', '/nonsense', '*/*'],
      ['GET', '/nonsense', 'text/html;q=0, application/json'],
      ['GET', '/nonsense', 'application/json'],
    ] as const) {
      const { status, headers, text } = await service.send({ method, path, headers: { accept } })
      assert.deepEqual([status, headers['content-type']], [404, 'application/json; charset=utf-8'], path)
      assert.equal(JSON.parse(text).response.error, 'not_found')
    }
  })

  test('an unchanged page is not sent twice', async () => {
    const { headers } = await get('/')
    const again = await get('/', { 'if-none-match': headers.etag ?? '' })
    assert.equal(again.status, 304)
  })
})
