import assert from 'node:assert/strict'
import type { AddressInfo } from 'node:net'
import { dirname } from 'node:path'
import { describe, type TestContext, test } from 'node:test'
import { errors } from '@penstock/wire'
import { networkOf, type Timeouts } from '../packages/server/src/http/listener.ts'
import { connectionsWithin } from '../packages/server/src/http/open-files.ts'
import { generateMasterKey } from '../packages/server/src/secrets/seal.ts'
import { createTestDatabase } from './harness/database.ts'
import { freePort, prepareStage, tokenOf } from './harness/process.ts'
import { type Line, openLine, type RawReply } from './harness/raw-http.ts'
import { startTestService, type TestService } from './harness/service.ts'
import { until } from './harness/until.ts'

/** How many connections a process holds, from whom, and for how long. */

const root = dirname(import.meta.dirname)
const startWithinMs = 120_000
const health = 'GET /healthz HTTP/1.1\r\nHost: penstock.test\r\n\r\n'

/** A listening service of its own. */
async function listen(t: TestContext, env: Record<string, string>, timeouts: Partial<Timeouts> = {}) {
  const service = await startTestService(env, timeouts)
  t.after(() => service.close())
  const { app } = service.service
  await app.listen({ port: 0, host: '127.0.0.1' })
  return { service, port: (app.server.address() as AddressInfo).port }
}

/** Opens connections that are closed after the test. */
async function openLines(t: TestContext, port: number, count: number): Promise<Line[]> {
  const lines = await Promise.all(Array.from({ length: count }, () => openLine(port)))
  t.after(() => {
    for (const line of lines) line.socket.destroy()
  })
  return lines
}

/** Fails unless the connection answers one more request. */
async function assertServed(line: Line): Promise<void> {
  const before = (await line.replies(0)).length
  line.write(health)
  const replies = await line.replies(before + 1)
  assert.deepEqual([replies.length, replies.at(-1)?.status], [before + 1, 200])
}

function assertRefused(replies: RawReply[], code: 'too_many_connections' | 'overloaded', setting: string): void {
  const [reply, ...more] = replies
  assert(reply, 'closed without an answer')
  assert.deepEqual(more, [])
  const { statusCode, statusMessage, response } = JSON.parse(reply.text)
  const { status, message } = errors[code]
  assert.deepEqual([reply.status, statusCode, statusMessage, response.error], [status, status, message, code])
  assert.match(response.details[0].message, new RegExp(`\\b${setting}\\b`))
  assert.match(reply.headers['retry-after'] ?? '', /^[1-9]\d*$/)
  assert.equal(reply.headers.connection, 'close')
}

const openConnections = ({ service }: TestService) =>
  new Promise<number>((resolve, reject) =>
    service.app.server.getConnections((error, count) => (error ? reject(error) : resolve(count))),
  )

for (const [setting, code] of [
  ['PENSTOCK_HTTP_CONNECTIONS_PER_ADDRESS', 'too_many_connections'],
  ['PENSTOCK_HTTP_CONNECTIONS', 'overloaded'],
] as const) {
  test(`${setting} refuses the surplus connection, and nothing that it sends is done`, async (t) => {
    const { service, port } = await listen(t, { [setting]: '3' })
    const { token } = await service.addOrganization()
    const [first, ...others] = await openLines(t, port, 3)
    assert(first)
    for (const line of [first, ...others]) await assertServed(line)

    const body = '{"name":"Never"}'
    const post = `POST /es/v2/accounts HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer ${token}\r\nContent-Type: application/json\r\nContent-Length: ${body.length}\r\n\r\n${body}`
    for (let i = 0; i < 5; i++) {
      using surplus = await openLine(port)
      surplus.write(post)
      assertRefused(await surplus.ended(), code, setting)
    }
    for (const line of [first, ...others]) await assertServed(line)
    assert.deepEqual((await service.call('listAccounts', { token })).response, [])
    const metrics = await service.send({ method: 'GET', path: '/metrics' })
    assert.match(metrics.text, new RegExp(`^penstock_http_connections_refused_total\\{error="${code}"\\} 5$`, 'm'))
    assert.match(metrics.text, /^penstock_http_connections 3$/m)

    first.socket.destroy()
    await until('the connection is closed', async () => (await openConnections(service)) === 2)
    const [next] = await openLines(t, port, 1)
    assert(next)
    await assertServed(next)
  })
}

test('a connection without a request gives way to one that has one, and those with a request stay', async (t) => {
  for (const setting of ['PENSTOCK_HTTP_CONNECTIONS_PER_ADDRESS', 'PENSTOCK_HTTP_CONNECTIONS']) {
    const { port } = await listen(t, { [setting]: '4' }, { yieldsMs: 1, yieldsServedMs: 3_600_000 })
    const [served, slow, ...silent] = await openLines(t, port, 4)
    assert(served && slow)
    await assertServed(served)
    slow.write('GET /healthz HTTP/1.1\r\nX-Slow: ')
    await until('others are answered', async () => {
      using other = await openLine(port)
      other.write(health)
      return (await other.replies(1))[0]?.status === 200
    })
    const more = await openLines(t, port, 3)
    for (const line of more) await assertServed(line)
    for (const line of [slow, ...silent]) assert.deepEqual(await line.ended(), [])
    for (const line of [served, ...more]) await assertServed(line)
  }
})

test('of 1,800 connections at once, the silent ones and the slow ones are all closed in time, and others are answered', async (t) => {
  const { service, port } = await listen(
    t,
    { PENSTOCK_HTTP_CONNECTIONS_PER_ADDRESS: '0' },
    { headersMs: 3_000, checkMs: 100, refusedMs: 50 },
  )
  const lines = await openLines(t, port, 1_800)
  for (const line of lines.slice(1_500)) line.write('GET /healthz HTTP/1.1\r\nX-Slow: ')
  assert.equal((await fetch(`http://127.0.0.1:${port}/healthz`)).status, 200)
  const ended = await Promise.all(lines.map((line) => line.ended()))
  assert(ended.every(([reply]) => reply?.status === 408))
  await until('all are closed', async () => (await openConnections(service)) <= 1)
})

test('PENSTOCK_TRUSTED_PROXIES have no bound of their own', async (t) => {
  const env = { PENSTOCK_HTTP_CONNECTIONS_PER_ADDRESS: '2', PENSTOCK_TRUSTED_PROXIES: '127.0.0.0/8' }
  const { port } = await listen(t, env)
  for (const line of await openLines(t, port, 10)) await assertServed(line)
})

test('an IPv6 network counts as one address, and IPv4 in IPv6 as IPv4', () => {
  assert.equal(networkOf('192.0.2.1'), '192.0.2.1')
  assert.equal(networkOf('::ffff:192.0.2.1'), '192.0.2.1')
  assert.equal(networkOf('2001:db8::1'), '2001:db8:0:0::/64')
  assert.equal(networkOf('2001:db8:0:0:ffff::1'), '2001:db8:0:0::/64')
  assert.equal(networkOf('2001:db8:1:2:3:4:5:6'), '2001:db8:1:2::/64')
  assert.equal(networkOf('fe80::1%eth0'), 'fe80:0:0:0::/64')
  assert.equal(networkOf('::1'), '0:0:0:0::/64')
})

describe('a connection is closed', { concurrency: true }, () => {
  const short = { headersMs: 300, requestMs: 600, keepAliveMs: 300, idleTimeoutMs: 300, checkMs: 50, refusedMs: 50 }
  const usual = { headersMs: 60_000, requestMs: 60_000, keepAliveMs: 60_000, idleTimeoutMs: 60_000 }
  const only = (...names: (keyof typeof short)[]) => ({
    ...usual,
    checkMs: short.checkMs,
    refusedMs: short.refusedMs,
    ...Object.fromEntries(names.map((name) => [name, short[name]])),
  })

  test('that never says anything', async (t) => {
    const { service, port } = await listen(t, {}, only('headersMs'))
    const [line] = await openLines(t, port, 1)
    const replies = await line?.ended()
    assert.deepEqual(
      replies?.map(({ status }) => status),
      [408],
    )
    // The client has not closed it.
    await until('it is closed on both sides', async () => (await openConnections(service)) === 0)
  })

  test('whose body comes too slowly', async (t) => {
    const { service, port } = await listen(t, {}, only('headersMs', 'requestMs'))
    const { token } = await service.addOrganization()
    const [line] = await openLines(t, port, 1)
    line?.write(
      `POST /es/v2/accounts HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer ${token}\r\nContent-Type: application/json\r\nContent-Length: 100000\r\n\r\n`,
    )
    // The headers have arrived. Each byte of the body that arrives leaves the end as far away.
    const dribble = setInterval(() => line?.write(' '), 20)
    t.after(() => clearInterval(dribble))
    assert.deepEqual(
      (await line?.ended())?.map(({ status }) => status),
      [408],
    )
  })

  test('that is kept open for another request which does not come', async (t) => {
    const { port } = await listen(t, {}, only('keepAliveMs'))
    const [line] = await openLines(t, port, 1)
    line?.write(health)
    assert.deepEqual(
      (await line?.ended())?.map(({ status }) => status),
      [200],
    )
  })

  test('whose client stops reading the answers', async (t) => {
    const { service, port } = await listen(t, {}, only('idleTimeoutMs'))
    const [line] = await openLines(t, port, 1)
    line?.socket.pause()
    // More than the buffers of both sides hold.
    line?.write('GET /es/v2/openapi.json HTTP/1.1\r\nHost: a\r\n\r\n'.repeat(300))
    await until('the connection is open', async () => (await openConnections(service)) === 1)
    await until('the connection is closed', async () => (await openConnections(service)) === 0)
  })

  test('that is refused, although its client does not close it', async (t) => {
    const { service, port } = await listen(t, { PENSTOCK_HTTP_CONNECTIONS: '1' }, only('refusedMs'))
    const [first] = await openLines(t, port, 1)
    const surplus = await openLines(t, port, 3)
    for (const line of surplus) line.socket.pause()
    await until('the refused ones are closed', async () => (await openConnections(service)) === 1)
    assert(first)
    await assertServed(first)
  })
})

describe('a process with few open files', () => {
  test('takes half of them for connections, and leaves enough for its own', () => {
    assert.equal(connectionsWithin(10_000, 64), 16)
    assert.equal(connectionsWithin(10_000, 20), 1)
    assert.equal(connectionsWithin(10_000, 1_024), 512)
    assert.equal(connectionsWithin(100, 1_024), 100)
    assert.equal(connectionsWithin(10_000, Number.POSITIVE_INFINITY), 10_000)
  })

  /** The service in a process that can open this number of files. */
  async function serveWith(t: TestContext, openFiles: number, nodeOptions = '') {
    const stage = await prepareStage(t)
    const testDatabase = await createTestDatabase()
    const port = await freePort()
    const program = stage.start(
      'bash',
      ['-c', `ulimit -n ${openFiles}; exec node packages/server/bin/penstock.js serve`],
      {
        cwd: root,
        env: {
          DATABASE_URL: testDatabase.url,
          PENSTOCK_MASTER_KEY: generateMasterKey(),
          PENSTOCK_PORT: String(port),
          PENSTOCK_HTTP_CONNECTIONS_PER_ADDRESS: '0',
          PENSTOCK_WORKER: '0',
          NODE_OPTIONS: nodeOptions,
        },
      },
    )
    t.after(() => testDatabase.drop())
    await until(
      'the service answers',
      async () => {
        assert(!program.hasEnded, program.said.stderr)
        return (await fetch(`http://127.0.0.1:${port}/healthz`).catch(() => undefined))?.ok
      },
      startWithinMs,
    )
    const token = () => tokenOf({ url: `http://127.0.0.1:${port}` }, stage.dataDirectory)
    return { port, program, token }
  }

  test('answers those who are too many, and keeps serving the others', async (t) => {
    const { port, program } = await serveWith(t, 128)
    await until('the log names the bound', () =>
      /"connections":64,.*PENSTOCK_HTTP_CONNECTIONS/.test(program.said.stderr),
    )
    const lines: Line[] = []
    t.after(() => {
      for (const line of lines) line.socket.destroy()
    })
    let refused = 0
    for (let i = 0; i < 300; i++) {
      const line = await openLine(port)
      line.write(health)
      const [reply] = await line.replies(1)
      if (reply?.status === 200) {
        lines.push(line)
      } else {
        assertRefused(await line.ended(), 'overloaded', 'PENSTOCK_HTTP_CONNECTIONS')
        refused++
        line.socket.destroy()
      }
    }
    // The probe of the start can still be among the open connections.
    assert(lines.length >= 62 && lines.length <= 64, `${lines.length} are served`)
    assert.equal(refused, 300 - lines.length)
    for (const line of lines) await assertServed(line)
    for (const line of lines) line.socket.destroy()
    await until('new connections are served', async () => {
      using line = await openLine(port)
      line.write(health)
      return (await line.replies(1))[0]?.status === 200
    })
    assert(!program.hasEnded)
  })

  test('answers who is connected although it has 64 of them, and new ones once others go', async (t) => {
    const { port, program, token } = await serveWith(t, 64)
    const authorization = `Authorization: Bearer ${await token()}`
    const list = `GET /es/v2/accounts HTTP/1.1\r\nHost: a\r\n${authorization}\r\n\r\n`
    const [first] = await openLines(t, port, 1)
    assert(first)
    await assertServed(first)
    const crowd = await openLines(t, port, 200)
    for (let i = 2; i < 12; i++) {
      first.write(list)
      assert.deepEqual((await first.replies(i)).at(-1)?.status, 200)
    }
    for (const line of crowd) line.socket.destroy()
    await until('new connections are served', async () => {
      using line = await openLine(port)
      line.write(list)
      return (await line.replies(1).catch(() => []))[0]?.status === 200
    })
    assert(!program.hasEnded)
  })

  test('that are all in use refuses what needs another one, and recovers', async (t) => {
    const exhaust = new URL('harness/exhaust-files.ts', import.meta.url).href
    const { port, program, token } = await serveWith(t, 256, `--import=${exhaust}`)
    const body = '{"name":"a"}'
    const post = `POST /es/v2/accounts HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer ${await token()}\r\nContent-Type: application/json\r\nContent-Length: ${body.length}\r\n\r\n${body}`
    const lines = await openLines(t, port, 40)
    for (const line of lines) await assertServed(line)

    program.signal('SIGUSR2')
    await until('no more files can be opened', () => program.said.stdout.includes('EMFILE reached'))
    // Together they need more connections to the database than are open.
    for (const line of lines) line.write(post)
    const answers = await Promise.all(lines.map(async (line) => (await line.replies(2))[1]))
    const refused = answers.filter((reply) => reply?.status !== 201)
    assert(refused.length > 0, 'every request was served')
    for (const reply of refused) {
      assert.deepEqual([reply?.status, JSON.parse(reply?.text ?? '').response.error], [503, 'overloaded'])
      assert.match(reply?.headers['retry-after'] ?? '', /^[1-9]\d*$/)
    }
    using newcomer = await openLine(port)
    newcomer.write(health)
    assert.deepEqual(await newcomer.ended(), [], 'where there is no socket there is no answer, but no waiting either')

    program.signal('SIGUSR2')
    await until('files can be opened', () => program.said.stdout.includes('files closed'))
    for (const line of lines) line.write(post)
    for (const line of lines) assert.equal((await line.replies(3))[2]?.status, 201)
    assert(!program.hasEnded)
  })
})
