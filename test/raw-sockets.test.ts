import assert from 'node:assert/strict'
import type { AddressInfo, Socket } from 'node:net'
import { after, before, describe, test } from 'node:test'
import { type ErrorCode, errors } from '@penstock/wire'
import { exchange, openLine, type RawReply } from './harness/raw-http.ts'
import { type Organization, startTestService, type TestService } from './harness/service.ts'
import { until } from './harness/until.ts'

/**
 * A listening service receives bytes that are hardly HTTP. It answers in the envelope while the client is still connected,
 * and keeps serving all other clients.
 */

let service: TestService
let organization: Organization
let port: number
before(async () => {
  // The service's own bounds are a minute. Shorter ones let the test reach slow clients sooner.
  const timeouts = { headersMs: 1_500, requestMs: 1_500, checkMs: 100 }
  service = await startTestService({ PENSTOCK_PUBLIC_URL: 'http://127.0.0.1:8080' }, timeouts)
  organization = await service.addOrganization()
  const { server } = service.service.app
  await service.service.app.listen({ port: 0, host: '127.0.0.1' })
  port = (server.address() as AddressInfo).port
})
after(() => service.close())

const authorization = () => `Authorization: Bearer ${organization.token}\r\n`
const get = (more = '') => `GET /es/v2/accounts HTTP/1.1\r\nHost: penstock.test\r\n${authorization()}${more}\r\n`
const post = (headers: string, body = '') =>
  `POST /es/v2/accounts HTTP/1.1\r\nHost: penstock.test\r\n${authorization()}Content-Type: application/json\r\n${headers}\r\n${body}`
const name = '{"name":"a"}'

/** Fails unless the reply is a refusal in the envelope, of one of these codes. */
function assertRefused(reply: RawReply | undefined, ...codes: ErrorCode[]): void {
  assert(reply, 'no answer')
  const shown = `${reply.status} ${JSON.stringify(reply.headers)} ${reply.text.slice(0, 500)}`
  assert(reply.text !== '', `an answer without a body: ${shown}`)
  const { statusCode, statusMessage, response, ...more } = JSON.parse(reply.text)
  assert(codes.includes(response.error), shown)
  assert.deepEqual(Object.keys(response), ['error', 'requestId', 'details'], shown)
  const { status, message } = errors[response.error as ErrorCode]
  assert.deepEqual([reply.status, statusCode, statusMessage, more], [status, status, message, {}], shown)
  assert.equal(reply.headers['content-type'], 'application/json; charset=utf-8')
}

async function assertServing(): Promise<void> {
  const reply = await exchange(port, get('Connection: close\r\n'))
  assert.equal(reply.status, 200, reply.text)
}

const countAccounts = async () => {
  const { rows } = await service.database.pool.query<{ n: number }>('select count(*)::int as n from accounts')
  return rows[0]?.n ?? 0
}

describe('what is no request is refused in the envelope', () => {
  const many = (line: string, times: number) => line.repeat(times)
  const refused: [what: string, bytes: () => string, ...codes: ErrorCode[]][] = [
    ['garbage', () => '\x00\x01\xfe\xff\r\n\r\n', 'invalid_request'],
    ['a TLS greeting', () => '\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03', 'invalid_request'],
    ['HTTP/2', () => 'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n', 'invalid_request'],
    ['an HTTP that never was', () => 'GET / HTTP/3.7\r\nHost: a\r\n\r\n', 'invalid_request'],
    ['an unknown method', () => 'BREW /es/v2/accounts HTTP/1.1\r\nHost: a\r\n\r\n', 'invalid_request'],
    ['a blank in the address', () => get().replace('/accounts', '/accounts?q=a b'), 'invalid_request'],
    ['line feeds alone', () => 'GET / HTTP/1.1\nHost: a\n\n', 'invalid_request'],
    ['a NUL in a header', () => get('X-Header: a\0b\r\n'), 'invalid_request'],
    ['a folded header', () => get('X-Header: a\r\n b\r\n'), 'invalid_request'],
    ['a header without a name', () => get(': a\r\n'), 'invalid_request'],
    ['no Host', () => get().replace('Host: penstock.test\r\n', ''), 'invalid_request'],
    ['two Hosts', () => get('hOsT: elsewhere.test\r\n'), 'invalid_request'],
    ['one Host twice', () => get('Host: penstock.test\r\n'), 'invalid_request'],
    ['two Hosts under HTTP/1.0', () => get('Host: elsewhere.test\r\n').replace('1.1', '1.0'), 'invalid_request'],
    ['a request line of 100 kB', () => get().replace('/accounts', `/${many('a', 100_000)}`), 'headers_too_large'],
    ['a query of 100 kB', () => get().replace('/accounts', `/accounts?q=${many('a', 100_000)}`), 'headers_too_large'],
    ['a header of 100 kB', () => get(`X-Header: ${many('a', 100_000)}\r\n`), 'headers_too_large'],
    ['five thousand headers', () => get(many('X-Header: a\r\n', 5_000)), 'headers_too_large'],
    [
      'a chunk that is none',
      () => post('Transfer-Encoding: chunked\r\n', `zz\r\n${name}\r\n0\r\n\r\n`),
      'invalid_request',
    ],
    [
      'a chunk that is longer',
      () => post('Transfer-Encoding: chunked\r\n', `3\r\n${name}\r\n0\r\n\r\n`),
      'invalid_request',
    ],
    ['two lengths', () => post('Content-Length: 12\r\nContent-Length: 13\r\n', name), 'invalid_request'],
    [
      'a length and chunks',
      () => post('Content-Length: 12\r\nTransfer-Encoding: chunked\r\n', name),
      'invalid_request',
    ],
    ['a negative length', () => post('Content-Length: -1\r\n', name), 'invalid_request'],
    ['a length that is not a number', () => post('Content-Length: 0x0c\r\n', name), 'invalid_request'],
    ['a length beyond everything', () => post('Content-Length: 99999999999999999999\r\n', name), 'invalid_request'],
    ['a terabyte to come', () => post('Content-Length: 1000000000000\r\n', name), 'payload_too_large'],
    [
      'chunks beyond the bound',
      () => post('Transfer-Encoding: chunked\r\n', `200000\r\n${many(' ', 0x200000)}\r\n0\r\n\r\n`),
      'payload_too_large',
    ],
    ['chunks of another coding', () => post('Transfer-Encoding: gzip\r\n', name), 'invalid_request'],
  ]
  for (const [what, bytes, ...codes] of refused) {
    test(what, async () => {
      const before = await countAccounts()
      assertRefused(await exchange(port, bytes()), ...codes)
      await assertServing()
      assert.equal(await countAccounts(), before)
    })
  }
})

describe('what is unusual, and allowed, is served', () => {
  const served: [what: string, bytes: () => string, status: number][] = [
    ['an absolute address', () => get().replace('/es', 'http://penstock.test/es'), 200],
    ['an absolute address with a port', () => get().replace('/es', 'http://penstock.test:1234/es'), 200],
    ['an unknown expectation', () => get('Expect: wonders\r\n'), 200],
    ['an expectation before the body', () => post('Expect: 100-continue\r\nContent-Length: 12\r\n', name), 201],
    ['HTTP/1.0 without a Host', () => get().replace('1.1\r\nHost: penstock.test', '1.0'), 200],
    ['an offer to change the protocol', () => get('Connection: Upgrade\r\nUpgrade: websocket\r\n'), 200],
    [
      'a body in many chunks',
      () => post('Transfer-Encoding: chunked\r\n', `${[...name].map((c) => `1\r\n${c}\r\n`).join('')}0\r\n\r\n`),
      201,
    ],
  ]
  for (const [what, bytes, status] of served) {
    test(what, async () => {
      const reply = await exchange(port, bytes())
      assert.equal(reply.status, status, reply.text)
      assert.match(reply.headers.link ?? 'none', /^none$|^<http:\/\/127\.0\.0\.1:8080\/es\/v2\/accounts\?/)
    })
  }
})

test('a fragment, which no client should send, is no part of the address', async () => {
  for (const address of ['/accounts', '/accounts?q=a', '/accounts?size=5']) {
    const [plain, reply] = await Promise.all(
      [address, `${address}#fragment?size=7`].map((target) => exchange(port, get().replace('/accounts', target))),
    )
    assert.equal(reply?.status, 200, reply?.text)
    assert.equal(reply?.headers.link, plain?.headers.link)
  }
  assertRefused(await exchange(port, get().replace('/es/v2', '/es#/v2')), 'not_found')
})

test('requests in one go are answered in their order', async () => {
  using line = await openLine(port)
  const sizes = Array.from({ length: 50 }, (_, index) => index + 1)
  line.write(sizes.map((size) => get().replace('/accounts', `/accounts?size=${size}`)).join(''))
  const replies = await line.replies(sizes.length)
  assert.deepEqual(
    replies.map(({ headers }) => Number(/[?&]size=(\d+)/.exec(headers.link ?? '')?.[1])),
    sizes,
  )
})

test('a request that rubbish follows gets its own answer', async () => {
  const before = await countAccounts()
  using line = await openLine(port)
  line.write(post('Content-Length: 12\r\n', `${name} and what is no request`))
  const [reply] = await line.ended()
  const later = 5
  for (let i = 0; i < later; i++) await exchange(port, post('Connection: close\r\nContent-Length: 12\r\n', name))
  // Successful requests are reported as successful, and refused ones changed nothing.
  const done = (await countAccounts()) === before + later + 1
  assert.equal(reply?.status, done ? 201 : 400, reply?.text)
})

test('a body that is longer than its length is not read to its end', async () => {
  const before = await countAccounts()
  using line = await openLine(port)
  line.write(post('Content-Length: 10\r\n', name))
  const [reply] = await line.ended()
  assertRefused(reply, 'invalid_request')
  assert.equal(await countAccounts(), before)
})

describe('a client that does not finish a request gets request_timeout, and blocks no other', {
  concurrency: true,
}, () => {
  const halves: [what: string, bytes: () => string][] = [
    ['nothing but a method', () => 'GET '],
    ['half the headers', () => get().slice(0, -30)],
    ['a body shorter than its length', () => post('Content-Length: 1000\r\n', name)],
    ['chunks without an end', () => post('Transfer-Encoding: chunked\r\n', 'c\r\n{"name":')],
  ]
  for (const [what, bytes] of halves) {
    test(what, async () => {
      const before = await countAccounts()
      using line = await openLine(port)
      line.write(bytes())
      await assertServing()
      const [reply] = await line.ended()
      assertRefused(reply, 'request_timeout')
      assert.equal(await countAccounts(), before)
    })
  }

  test('a byte now and then', async () => {
    using line = await openLine(port)
    line.write(get().slice(0, -2))
    const dribble = setInterval(() => line.write('X'), 50)
    try {
      await assertServing()
      const [reply] = await line.ended()
      assertRefused(reply, 'request_timeout')
    } finally {
      clearInterval(dribble)
    }
  })
})

test('a client that hangs up in the middle causes no internal error', async () => {
  const before = await countAccounts()
  const seen = service.logLines.length
  const ends = [
    get().slice(0, -30),
    post('Content-Length: 1000\r\n', name),
    post('Transfer-Encoding: chunked\r\n', 'c\r\n{"name":'),
  ].flatMap((bytes) => [
    { bytes, hangUp: (socket: Socket) => socket.destroy() },
    { bytes, hangUp: (socket: Socket) => socket.resetAndDestroy() },
  ])
  for (const { bytes, hangUp } of ends) {
    using line = await openLine(port)
    line.write(bytes)
    await assertServing()
    hangUp(line.socket)
  }
  await until('every connection is closed', () => connections().then((open) => open === 0))
  assert.equal(await countAccounts(), before)
  const logged = service.logLines.slice(seen).filter((line) => /"level":"(?:error|fatal)"|"status":5\d\d/.test(line))
  assert.deepEqual(logged, [])
})

const connections = () =>
  new Promise<number>((resolve, reject) =>
    service.service.app.server.getConnections((error, count) => (error ? reject(error) : resolve(count))),
  )

test('two hundred clients that never finish delay no other', async () => {
  using lines = new DisposableStack()
  const opened = await Promise.all(Array.from({ length: 200 }, () => openLine(port)))
  for (const line of opened) lines.use(line).write(post('Content-Length: 1000\r\n', name))
  for (let i = 0; i < 20; i++) await assertServing()
  for (const [reply] of await Promise.all(opened.map((line) => line.ended()))) assertRefused(reply, 'request_timeout')
})
