import assert from 'node:assert/strict'
import { once } from 'node:events'
import http from 'node:http'
import type { AddressInfo } from 'node:net'
import net from 'node:net'
import { after, describe, test } from 'node:test'
import { gzipSync } from 'node:zlib'
import { ConnectorError, type ErrorAction } from '../connector-error.ts'
import type { EgressRequest } from '../context.ts'
import { retryAfterMs } from '../retry-after.ts'
import { isAllowedAddress } from './addresses.ts'
import { type AllowedDestination, parseAllowed } from './allowed.ts'
import { createEgress } from './egress.ts'

const closers: (() => unknown)[] = []
after(async () => {
  for (const close of closers.reverse()) await close()
})

/** A real HTTP server on a free port. */
async function serve(listener: http.RequestListener): Promise<string> {
  const server = http.createServer(listener).listen(0, '127.0.0.1')
  await once(server, 'listening')
  closers.push(() => {
    server.closeAllConnections()
    server.close()
  })
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`
}

const egress = createEgress({ networkPolicy: 'any' })
closers.push(() => egress.close())

const connectorErrorOf = async (promise: Promise<unknown>): Promise<{ action: ErrorAction; code: string }> => {
  const error = await promise.then(
    () => assert.fail('it should have been refused'),
    (reason: unknown) => reason,
  )
  assert.ok(error instanceof ConnectorError, String(error))
  return { action: error.action, code: error.code }
}

describe('isAllowedAddress', () => {
  const never = [
    '169.254.169.254 169.254.170.2 100.100.100.200 168.63.129.16 fe80::1 fe80::1%eth0 febf::1 fd00:ec2::254 fd20:ce::254',
    '::ffff:169.254.169.254 ::ffff:a9fe:a9fe ::169.254.169.254 64:ff9b::169.254.169.254 64:ff9b:1::a9fe:a9fe',
    '2002:a9fe:a9fe::1 ::ffff:0:169.254.169.254 localhost 169.254.169.254.nip.io',
  ]
    .join(' ')
    .split(' ')
  const own = [
    '127.0.0.1 10.1.2.3 172.16.0.1 172.31.255.255 192.168.1.1 100.64.0.1 100.127.255.255 0.0.0.0 224.0.0.1 240.0.0.1',
    '255.255.255.255 198.18.0.1 192.0.2.1 ::1 :: fc00::1 fd12::1 fec0::1 ff02::1 2001:db8::1 100::1 5f00::1',
    '::ffff:127.0.0.1 ::ffff:10.0.0.1 64:ff9b::10.0.0.1 2002:7f00:1::1 2001::1 ::127.0.0.1 4000::1',
  ]
    .join(' ')
    .split(' ')
  const everyones = '8.8.8.8 172.32.0.1 100.63.255.255 169.253.1.1 2606:4700::1111 64:ff9b::8.8.8.8 2a00:1450::1'.split(
    ' ',
  )

  test('never allows link-local and metadata addresses, whatever form they take', () => {
    for (const address of never) {
      assert.equal(isAllowedAddress(address, 'any'), false, address)
      assert.equal(isAllowedAddress(address, 'public'), false, address)
    }
  })

  test('allows private addresses only where the operator does not keep to public ones', () => {
    for (const address of own) {
      // 6to4 and addresses compatible with IPv4 are not in use any more, but harmless.
      assert.equal(isAllowedAddress(address, 'any'), true, address)
      assert.equal(isAllowedAddress(address, 'public'), false, address)
    }
    for (const address of everyones) {
      assert.equal(isAllowedAddress(address, 'any'), true, address)
      assert.equal(isAllowedAddress(address, 'public'), true, address)
    }
  })
})

const parsed = (text: string): AllowedDestination => parseAllowed(text) ?? assert.fail(text)

describe('parseAllowed', () => {
  test('reads names, addresses and networks, with or without a port', () => {
    const network = (address: string, bits: number) => ({ network: { address, bits } })
    for (const [text, expected] of [
      ['db', { name: 'db' }],
      ['DB.Internal.', { name: 'db.internal' }],
      ['my_db-1.internal:5432', { name: 'my_db-1.internal', port: 5432 }],
      ['10.0.0.7', network('10.0.0.7', 32)],
      ['10.0.0.7:1', { ...network('10.0.0.7', 32), port: 1 }],
      ['10.1.0.0/16', network('10.1.0.0', 16)],
      ['10.1.0.0/16:65535', { ...network('10.1.0.0', 16), port: 65_535 }],
      ['fd12::7', network('fd12::7', 128)],
      ['fd12::/64', network('fd12::', 64)],
      ['[fd12::7]:5432', { ...network('fd12::7', 128), port: 5432 }],
      ['[fd12::/64]:5432', { ...network('fd12::', 64), port: 5432 }],
    ] as const) {
      assert.deepEqual(parseAllowed(text), { text, ...expected })
    }
  })

  test('reads nothing else, and nothing that is never allowed', () => {
    const wrong = [
      '* *.internal 10.0.0 10.0.0.256 10.0.0.0/33 fd12::/129 10.0.0.7:0 10.0.0.7:65536 10.0.0.7:x db: :5432 a..b -a',
      'http://db db/path [10.0.0.7]:1 [db]:1 fd12::7%eth0 10.0.0.7/ 10.0.0.7/-1 db/8',
      '169.254.169.254 169.254.0.0/16 fe80::1 fd00:ec2::254 100.100.100.200:80 metadata.google.internal',
    ]
    for (const text of ['', ...wrong.join(' ').split(' ')]) assert.equal(parseAllowed(text), undefined, text)
  })
})

describe('the egress', () => {
  const refused = { action: 'reconfigure', code: 'address_not_allowed' }

  test('refuses metadata addresses however they are written', async () => {
    for (const url of [
      'http://169.254.169.254/latest/meta-data/',
      'http://2852039166/',
      'http://0xa9fea9fe/',
      'http://0251.0376.0251.0376/',
      'http://[::ffff:169.254.169.254]/',
      'http://[fd00:ec2::254]/',
      'http://metadata.google.internal/computeMetadata/v1/',
      'http://METADATA.google.internal./',
    ]) {
      assert.deepEqual(await connectorErrorOf(egress.request(url)), refused, url)
    }
    for (const host of ['169.254.169.254', '[fe80::1]', 'fe80::1%lo', 'metadata.google.internal']) {
      assert.deepEqual(await connectorErrorOf(egress.resolve(host)), refused, host)
    }
  })

  test('refuses, where only public addresses are allowed, names that resolve to others', async () => {
    const origin = await serve((_request, response) => response.end('inside'))
    const open = createEgress({ networkPolicy: 'public' })
    const { port } = new URL(origin)
    for (const host of ['localhost', '127.0.0.1', '[::1]', '0.0.0.0']) {
      assert.deepEqual(await connectorErrorOf(open.request(`http://${host}:${port}/`)), refused, host)
      assert.deepEqual(await connectorErrorOf(open.resolve(host)), refused, host)
    }
    assert.equal(await (await egress.request(`http://localhost:${port}/`)).text(), 'inside')
    assert.equal(await egress.resolve('127.0.0.1'), '127.0.0.1')
    assert.ok(net.isIP(await egress.resolve('localhost')))
  })

  const allowing = (...texts: string[]) => {
    const open = createEgress({ networkPolicy: 'public', allow: texts.map(parsed) })
    closers.push(() => open.close())
    return open
  }

  test('reaches the private destinations that are allowed one by one, and no other', async () => {
    const { port } = new URL(await serve((_request, response) => response.end('inside')))
    const url = (host: string) => `http://${host}:${port}/`
    for (const [allowed, reached, notReached] of [
      ['127.0.0.1', ['127.0.0.1', 'localhost', '[::ffff:127.0.0.1]'], []],
      ['127.0.0.0/8', ['127.0.0.1', 'localhost'], ['[::1]']],
      [`127.0.0.1:${port}`, ['127.0.0.1', 'localhost'], []],
      ['localhost', ['localhost', 'LOCALHOST'], ['127.0.0.1', '[::1]']],
      [`localhost:${port}`, ['localhost'], ['127.0.0.1']],
      [`127.0.0.1:${Number(port) + 1}`, [], ['127.0.0.1', 'localhost']],
      ['127.0.0.2', [], ['127.0.0.1', 'localhost']],
    ] as const) {
      const open = allowing(allowed)
      for (const host of reached) {
        assert.equal(await (await open.request(url(host))).text(), 'inside', `${allowed}: ${host}`)
        assert.ok(net.isIP(await open.resolve(host, Number(port))), `${allowed}: ${host}`)
      }
      for (const host of notReached) {
        assert.deepEqual(await connectorErrorOf(open.request(url(host))), refused, `${allowed}: ${host}`)
        assert.deepEqual(await connectorErrorOf(open.resolve(host, Number(port))), refused, `${allowed}: ${host}`)
      }
    }
    assert.deepEqual(
      await connectorErrorOf(allowing(`localhost:${port}`).resolve('localhost')),
      refused,
      'the port is unknown',
    )
  })

  test('does not follow a redirect from an allowed port to another', async () => {
    const other = await serve((_request, response) => response.end('inside'))
    const first = await serve((_request, response) => response.writeHead(302, { location: other }).end())
    const open = allowing(new URL(first).host)
    assert.deepEqual(await connectorErrorOf(open.request(first, { redirectsMax: 1 })), refused)
  })

  test('never reaches link-local and metadata addresses, whatever is allowed', async () => {
    const open = allowing('0.0.0.0/0', '::/0')
    for (const url of ['http://169.254.169.254/', 'http://[fd00:ec2::254]/', 'http://metadata.google.internal/']) {
      assert.deepEqual(await connectorErrorOf(open.request(url)), refused, url)
    }
  })

  test('names the settings of the operator in its refusal of a private address', async () => {
    const open = createEgress({ networkPolicy: 'public' })
    const message = async (host: string) => {
      const error = await open.resolve(host).catch((reason: unknown) => reason)
      return error instanceof ConnectorError ? error.message : ''
    }
    for (const host of ['10.0.0.7', 'localhost']) {
      assert.match(await message(host), new RegExp(`^${host} is a private address.*PENSTOCK_EGRESS_ALLOW\\.$`))
    }
    assert.match(await message('169.254.169.254'), /link-local or metadata address, which this service never/)
  })

  test('checks every address that it is redirected to', async () => {
    const origin = await serve((_request, response) =>
      response.writeHead(302, { location: 'http://169.254.169.254/' }).end(),
    )
    assert.deepEqual(await connectorErrorOf(egress.request(origin, { redirectsMax: 5 })), refused)
  })

  test('takes only http and https, and no credentials in an address', async () => {
    assert.equal((await connectorErrorOf(egress.request('file:///etc/passwd'))).code, 'invalid_address')
    assert.equal((await connectorErrorOf(egress.request('nonsense'))).code, 'invalid_address')
    assert.equal((await connectorErrorOf(egress.request('https://u:p@example.com/'))).code, 'invalid_address')
  })

  test('sends method, headers and body, and gives whatever answer came', async () => {
    const origin = await serve(async (request, response) => {
      const body = (await request.toArray()).join('')
      response.writeHead(418, { 'x-seen': `${request.method} ${request.url} ${request.headers['x-own']}` })
      response.end(body.toUpperCase())
    })
    const bodies: NonNullable<EgressRequest['body']>[] = [
      'text',
      new TextEncoder().encode('text'),
      new Blob(['te', 'xt']).stream(),
    ]
    for (const body of bodies) {
      const response = await egress.request(`${origin}/a?b=c`, { method: 'POST', headers: { 'X-Own': '1' }, body })
      assert.equal(response.status, 418)
      assert.equal(response.headers.get('x-seen'), 'POST /a?b=c 1')
      assert.equal(response.url, `${origin}/a?b=c`)
      assert.equal(await response.text(), 'TEXT')
    }
  })

  test('gives answers without a body, and decompresses those that are compressed', async () => {
    const origin = await serve((request, response) => {
      if (request.url === '/none') response.writeHead(204).end()
      else response.writeHead(200, { 'content-encoding': 'gzip' }).end(gzipSync('long '.repeat(50_000)))
    })
    assert.equal((await egress.request(`${origin}/none`)).body, null)
    assert.equal((await egress.request(origin, { method: 'HEAD' })).body, null)
    assert.equal((await (await egress.request(origin)).text()).length, 250_000)
    const part = await egress.request(origin, { headers: { Range: 'bytes=0-' } })
    assert.equal(part.headers.get('content-encoding'), 'gzip')
    await part.body?.cancel()
  })

  test('follows as many redirects as allowed, and takes no secret to another origin', async () => {
    const seen: http.IncomingHttpHeaders[] = []
    const other = await serve((request, response) => {
      seen.push(request.headers)
      response.end(`${request.method}`)
    })
    const origin = await serve((request, response) => {
      const { pathname } = new URL(request.url ?? '', 'http://localhost')
      const location = pathname === '/away' ? other : pathname === '/here' ? '/away' : '/loop'
      response.writeHead(pathname === '/here' ? 307 : 302, { location }).end()
    })
    const headers = { Authorization: 'Bearer s', cookie: 's', 'X-Api-Key': 's', Accept: 'text/csv' }
    const plain = await egress.request(`${origin}/away`, { headers })
    assert.equal(plain.status, 302)
    const response = await egress.request(`${origin}/here`, { method: 'POST', body: 'x', headers, redirectsMax: 2 })
    assert.equal(await response.text(), 'GET')
    assert.equal(response.url, `${other}/`)
    assert.equal(seen[0]?.accept, 'text/csv')
    for (const name of ['authorization', 'cookie', 'x-api-key', 'content-length'])
      assert.equal(seen[0]?.[name], undefined)
    assert.deepEqual(await connectorErrorOf(egress.request(`${origin}/loop`, { redirectsMax: 5 })), {
      action: 'fail',
      code: 'unexpected_response',
    })
  })

  test('distinguishes that nothing answers, that it takes too long, and that the answer broke off', async () => {
    const hanging = await serve(() => {})
    const closed = await serve((request) => request.socket.destroy())
    const broken = await serve((_request, response) => {
      response.writeHead(200, { 'content-length': 100 })
      response.write('half', () => response.destroy())
    })
    const slow = await serve((_request, response) => void response.writeHead(200).write('half'))
    const gone = net.createServer().listen(0, '127.0.0.1')
    await once(gone, 'listening')
    const { port } = gone.address() as AddressInfo
    gone.close()
    await once(gone, 'close')
    assert.deepEqual(await connectorErrorOf(egress.request(`http://127.0.0.1:${port}/`)), {
      action: 'reconnect',
      code: 'unreachable',
    })
    assert.deepEqual(await connectorErrorOf(egress.request('http://no-such-host.invalid/')), {
      action: 'reconnect',
      code: 'host_not_found',
    })
    const timeout = { action: 'retry', code: 'timeout' }
    assert.deepEqual(await connectorErrorOf(egress.request(hanging, { timeoutMs: 50 })), timeout)
    const answer = await egress.request(slow, { timeoutMs: 200 })
    assert.deepEqual(await connectorErrorOf(answer.text()), timeout)
    const lost = { action: 'retry', code: 'connection_lost' }
    assert.deepEqual(await connectorErrorOf(egress.request(closed)), lost)
    assert.deepEqual(await connectorErrorOf((await egress.request(broken)).arrayBuffer()), lost)
  })

  test('stops at once when its signal says so, before the answer and during it', async () => {
    const hanging = await serve(() => {})
    const endless = await serve((_request, response) => void response.writeHead(200).write('half'))
    const stop = new AbortController()
    const first = egress.request(hanging, { signal: stop.signal })
    const answer = await egress.request(endless, { signal: stop.signal })
    const unread = await egress.request(endless, { signal: stop.signal })
    const second = answer.text()
    stop.abort()
    for (const promise of [first, second, unread.text(), egress.request(endless, { signal: stop.signal })]) {
      await assert.rejects(promise, { name: 'AbortError' })
    }
  })

  test('repeats a request where the server has just closed a kept connection', async () => {
    let served = 0
    const origin = await serve((request, response) => {
      served += 1
      if (served === 2) request.socket.destroy()
      else response.end('fine')
    })
    assert.equal(await (await egress.request(origin)).text(), 'fine')
    assert.equal(await (await egress.request(origin)).text(), 'fine')
    assert.equal(served, 3)
  })

  test('sends what goes to a routed origin elsewhere, with the host that was meant, and nothing else', async () => {
    const origin = await serve((request, response) => response.end(`${request.headers.host}${request.url}`))
    const open = createEgress({ networkPolicy: 'public', routes: { 'https://graph.example.com': origin } })
    closers.push(() => open.close())
    const response = await open.request('https://graph.example.com/v1?a=b')
    assert.equal(await response.text(), 'graph.example.com/v1?a=b')
    assert.deepEqual(await connectorErrorOf(open.request(origin)), refused)
  })

  test('refuses a header that no server could take, without quoting it', async () => {
    const request = egress.request('http://127.0.0.1:1/', { headers: { authorization: 'Bearer hush\nhush' } })
    await assert.rejects(request, (error: Error) => {
      assert.ok(error instanceof ConnectorError && error.action === 'reconfigure')
      assert.doesNotMatch(`${error.message}${error.stack}${error.cause}`, /hush/)
      return true
    })
  })
})

describe('retryAfterMs', () => {
  test('reads seconds and dates, and nothing else', () => {
    const now = Date.parse('2026-01-31T12:00:00Z')
    const read = (value: string) => retryAfterMs({ headers: new Headers({ 'retry-after': value }) }, now)
    assert.equal(read('120'), 120_000)
    assert.equal(read('0'), 0)
    assert.equal(read('Sat, 31 Jan 2026 12:01:00 GMT'), 60_000)
    assert.equal(read('Sat, 31 Jan 2026 11:59:00 GMT'), 0)
    for (const value of ['soon', '-5', '1e3', '2026-01-31']) assert.equal(read(value), undefined)
    assert.equal(retryAfterMs({ headers: new Headers() }), undefined)
  })
})
