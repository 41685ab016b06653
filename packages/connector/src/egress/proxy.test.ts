import assert from 'node:assert/strict'
import { once } from 'node:events'
import net, { type AddressInfo } from 'node:net'
import { after, describe, test } from 'node:test'
import { ConnectorError } from '../connector-error.ts'
import { parseAllowed } from './allowed.ts'
import { createEgress } from './egress.ts'
import { type OutgoingProxy, parseProxy } from './proxy-address.ts'

const proxyOf = (text: string): OutgoingProxy => parseProxy(text) ?? assert.fail(text)

describe('parseProxy', () => {
  test('reads the schemes, with their ports and with credentials', () => {
    const none = { user: '', password: '' }
    for (const [text, expected] of [
      ['http://proxy', { scheme: 'http', host: 'proxy', port: 80, ...none }],
      ['http://proxy.internal:3128/', { scheme: 'http', host: 'proxy.internal', port: 3128, ...none }],
      ['https://proxy', { scheme: 'https', host: 'proxy', port: 443, ...none }],
      ['socks5://[fd12::7]', { scheme: 'socks5', host: 'fd12::7', port: 1080, ...none }],
      ['socks5://ada:p%40ss@proxy:9', { scheme: 'socks5', host: 'proxy', port: 9, user: 'ada', password: 'p@ss' }],
    ] as const) {
      assert.deepEqual(parseProxy(text), expected, text)
    }
  })

  test('reads nothing else', () => {
    const wrong =
      'proxy proxy:3128 ftp://proxy socks4://proxy http:// http://proxy/path http://proxy?a=b http://%zz@proxy'
    for (const text of ['', ...wrong.split(' '), `http://${'u'.repeat(256)}:p@proxy`])
      assert.equal(parseProxy(text), undefined, text)
  })
})

type Answer = (client: net.Socket, bytes: Buffer, at: number) => void

/** A server that answers the pieces that it gets, one after another. */
async function serve(answer: Answer): Promise<{ port: number; got: Buffer[] }> {
  const got: Buffer[] = []
  const server = net.createServer((client) => {
    client.on('error', () => {})
    let at = 0
    client.on('data', (bytes) => {
      got.push(bytes)
      answer(client, bytes, at++)
    })
    after(() => client.destroy())
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  after(() => server.close())
  return { port: (server.address() as AddressInfo).port, got }
}

const through = (proxy: OutgoingProxy, options: Partial<Parameters<typeof createEgress>[0]> = {}) => {
  const egress = createEgress({ networkPolicy: 'any', proxy, ...options })
  after(() => egress.close())
  return egress
}

const errorOf = async (work: Promise<unknown>): Promise<ConnectorError> => {
  const error = await work.then(
    () => assert.fail('it should have been refused'),
    (reason: unknown) => reason,
  )
  return error instanceof ConnectorError ? error : assert.fail(String(error))
}

describe('an egress with a proxy', () => {
  test('gives HTTP the checked address and the credentials, and keeps what comes right behind the answer', async () => {
    const { port, got } = await serve((client) =>
      client.write('HTTP/1.1 200 Connection established\r\nA: b\r\n\r\nhello'),
    )
    const stream = await through(proxyOf(`http://ada:p%40ss@127.0.0.1:${port}`)).connect('127.0.0.9', 5432)
    assert.equal(
      String(got[0]),
      `CONNECT 127.0.0.9:5432 HTTP/1.1\r\nHost: 127.0.0.9:5432\r\nProxy-Authorization: Basic ${btoa('ada:p@ss')}\r\n\r\n`,
    )
    const [hello] = await once(stream, 'data')
    assert.equal(String(hello), 'hello')
    stream.destroy()
  })

  test('gives SOCKS5 the bytes of the address', async () => {
    const { port, got } = await serve((client, _, at) => {
      if (at === 0) client.write(Buffer.from([5, 2]))
      else if (at === 1) client.write(Buffer.from([1, 0]))
      else client.write(Buffer.concat([Buffer.from([5, 0, 0, 3, 2, 97, 98, 0, 1]), Buffer.from('hello')]))
    })
    const proxy = proxyOf(`socks5://ada:secret@127.0.0.1:${port}`)
    for (const [host, bytes] of [
      ['127.0.0.9', '050100017f0000091538'],
      ['2001:db8::1:0:2', '0501000420010db80000000000000001000000021538'],
      ['::1', '05010004000000000000000000000000000000011538'],
      ['1:2:3:4:5:6:7:8', '05010004000100020003000400050006000700081538'],
    ] as const) {
      got.length = 0
      const stream = await through(proxy).connect(host, 0x1538)
      assert.equal(got[0]?.toString('hex'), '05020002')
      assert.equal(got[1]?.toString('latin1'), '\x01\x03ada\x06secret')
      assert.equal(got[2]?.toString('hex'), bytes)
      assert.equal(String((await once(stream, 'data'))[0]), 'hello')
      stream.destroy()
    }
  })

  test('says why a proxy does not connect, without its password', async () => {
    const http =
      (text: string): Answer =>
      (client) =>
        client.write(text)
    const socks =
      (...answers: readonly (readonly number[])[]): Answer =>
      (client, _, at) =>
        client.write(Buffer.from(answers[at] ?? []))
    for (const [scheme, answer, code, message] of [
      ['http', http('HTTP/1.1 407 Auth\r\n\r\n'), 'invalid_credentials', /denies access/],
      ['http', http('HTTP/1.0 403 Filtered\r\n\r\n'), 'permission_denied', /127\.0\.0\.9:1 \(status 403\)/],
      ['http', http('HTTP/1.1 503 Unavailable\r\n\r\n'), 'unreachable', /cannot reach 127\.0\.0\.9:1/],
      ['http', http('SSH-2.0-OpenSSH\r\n\r\n'), 'wrong_protocol', /does not answer like a proxy/],
      ['http', http('x'.repeat(40_000)), 'wrong_protocol', /does not answer like a proxy/],
      ['http', (client: net.Socket) => client.destroy(), 'connection_lost', /was interrupted/],
      ['socks5', http('HTTP/1.1 400 Bad\r\n\r\n'), 'wrong_protocol', /does not answer like a proxy/],
      ['socks5', socks([5, 0xff]), 'invalid_credentials', /denies access/],
      ['socks5', socks([5, 2], [1, 1]), 'invalid_credentials', /denies access/],
      ['socks5', socks([5, 0], [5, 2, 0, 1, 0, 0, 0, 0, 0, 0]), 'permission_denied', /\(code 2\)/],
      ['socks5', socks([5, 0], [5, 5, 0, 1, 0, 0, 0, 0, 0, 0]), 'unreachable', /cannot reach/],
    ] as const) {
      const { port } = await serve(answer)
      const error = await errorOf(through(proxyOf(`${scheme}://ada:canary@127.0.0.1:${port}`)).connect('127.0.0.9', 1))
      assert.deepEqual([error.code, message.test(error.message)], [code, true], error.message)
      assert.doesNotMatch(error.message, /canary/)
    }
    const absent = await errorOf(through(proxyOf('http://127.0.0.1:1')).connect('127.0.0.9', 1))
    assert.equal(absent.code, 'unreachable')
    const { port } = await serve(() => {})
    const silent = through(proxyOf(`http://127.0.0.1:${port}`)).connect('127.0.0.9', 1, { timeoutMs: 50 })
    assert.match(
      (await errorOf(silent)).message,
      /^The proxy .* did not connect to 127\.0\.0\.9:1 within 0\.05 seconds/,
    )
  })

  test('keeps the network policy for what is behind the proxy, and asks it for nothing that is refused', async () => {
    const { port, got } = await serve((client) => client.write('HTTP/1.1 200 OK\r\n\r\n'))
    const proxy = proxyOf(`http://127.0.0.1:${port}`)
    const open = through(proxy, { networkPolicy: 'public' })
    for (const host of ['127.0.0.1', 'localhost', '10.0.0.7', '169.254.169.254', 'metadata.google.internal']) {
      assert.equal((await errorOf(open.connect(host, 80))).code, 'address_not_allowed', host)
      assert.equal((await errorOf(open.request(`http://${host}/`))).code, 'address_not_allowed', host)
    }
    assert.equal((await errorOf(through(proxy).connect('169.254.169.254', 80))).code, 'address_not_allowed')
    assert.equal(got.length, 0)
    const allow = [parseAllowed('localhost') ?? assert.fail()]
    const stream = await through(proxy, { networkPolicy: 'public', allow }).connect('localhost', 80)
    stream.destroy()
    assert.match(String(got[0]), /^CONNECT (127\.0\.0\.1|\[::1\]):80 /)
  })

  test('connects directly to the exceptions', async () => {
    const { port } = await serve((client) => client.write('direct'))
    const except = [parseAllowed(`127.0.0.1:${port}`) ?? assert.fail()]
    const egress = through({ ...proxyOf('http://127.0.0.1:1') }, { except })
    const stream = await egress.connect('127.0.0.1', port)
    stream.write('x')
    assert.equal(String((await once(stream, 'data'))[0]), 'direct')
    stream.destroy()
    assert.equal((await errorOf(egress.connect('127.0.0.2', port))).code, 'unreachable')
  })
})
