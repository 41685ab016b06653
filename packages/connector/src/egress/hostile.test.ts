import assert from 'node:assert/strict'
import { once } from 'node:events'
import net, { type AddressInfo, type Socket } from 'node:net'
import { after, describe, test } from 'node:test'
import { gzipSync } from 'node:zlib'
import { ConnectorError } from '../connector-error.ts'
import type { EgressRequest } from '../context.ts'
import { readWhole } from '../read-whole.ts'
import { createEgress, type EgressOptions, egressBounds } from './index.ts'

const closers: (() => unknown)[] = []
after(async () => {
  for (const close of closers.reverse()) await close()
})

/** A server that sends exactly the bytes of the test, after it has read the head of a request. */
async function startTestServer(answer: (socket: Socket) => unknown) {
  const sockets = new Set<Socket>()
  const server = net.createServer((socket) => {
    sockets.add(socket)
    socket.on('error', () => {})
    socket.on('close', () => sockets.delete(socket))
    socket.once('data', () => answer(socket))
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  closers.push(() => {
    for (const socket of sockets) socket.destroy()
    server.close()
  })
  const gone = async () => {
    for (const socket of sockets) {
      // A paused socket does not see its end.
      socket.resume()
      await new Promise((resolve) => socket.once('close', resolve))
    }
  }
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/`, gone }
}

const head = (...lines: string[]): string => `${['HTTP/1.1 200 OK', ...lines].join('\r\n')}\r\n\r\n`

/** Result of the exchange with such a server; the connection is closed afterwards. */
async function endOf(
  answer: string | Buffer | ((socket: Socket) => unknown),
  init: EgressRequest = {},
  options: Partial<EgressOptions> = {},
): Promise<string> {
  const { url, gone } = await startTestServer(
    typeof answer === 'function' ? answer : (socket) => socket.end(answer, 'latin1'),
  )
  const egress = createEgress({ networkPolicy: 'any', ...options })
  try {
    const work = egress.request(url, init).then((response) => readWhole(response, 'The server'))
    const [result] = await Promise.allSettled([work])
    if (result.status === 'fulfilled') return result.value.toString()
    const error: unknown = result.reason
    assert.ok(error instanceof ConnectorError, String(error))
    await gone()
    return `${error.action} ${error.code}: ${error.message}`
  } finally {
    await egress.close()
  }
}

/** Writes a piece repeatedly, as fast as the network accepts it, until the connection is closed. */
async function writeForEver(socket: Socket, piece: string, each: () => void = () => {}): Promise<void> {
  while (!socket.destroyed) {
    each()
    if (!socket.write(piece, 'latin1')) await Promise.race([once(socket, 'drain'), once(socket, 'close')])
    else await new Promise(setImmediate)
  }
}

describe('the egress and a hostile server', { timeout: 60_000 }, () => {
  test('refuses to switch protocols, and lets the connection go', async () => {
    const upgrade = 'HTTP/1.1 101 Switching Protocols\r\nUpgrade: x\r\nConnection: Upgrade\r\n\r\n'
    assert.match(await endOf((socket) => socket.write(upgrade)), /^retry malformed_response: .* 101/)
    assert.match(await endOf((socket) => socket.write('HTTP/1.1 101 Hm\r\n\r\n')), /^retry malformed_response: .* 101/)
  })

  test('lets go of a server that sends interim answers without end, and takes a few of them', async () => {
    const hint = 'HTTP/1.1 103 Early Hints\r\nlink: </a>\r\n\r\n'
    const most = egressBounds.interimAnswers
    assert.equal(await endOf(`${hint.repeat(most)}${head('content-length: 2')}ok`), 'ok')
    assert.match(
      await endOf((socket) => writeForEver(socket, hint)),
      new RegExp(`^fail unexpected_response: .* ${most} `),
    )
    const onward = 'HTTP/1.1 100 Continue\r\n\r\n'
    assert.match(await endOf((socket) => writeForEver(socket, onward)), /^fail unexpected_response/)
  })

  test('bounds headers and trailers, and names the bound', async () => {
    const tooMany = new RegExp(`^fail response_too_large: .* ${egressBounds.headerBytes} bytes`)
    for (const start of ['HTTP/1.1 200 OK\r\n', `${head('transfer-encoding: chunked')}0\r\n`]) {
      const end = await endOf((socket) => {
        socket.write(start)
        return writeForEver(socket, 'a: b\r\n'.repeat(100))
      })
      assert.match(end, tooMany)
    }
  })

  test('says that what came is not HTTP, and quotes nothing of it', async () => {
    for (const answer of [
      'SSH-2.0-canary\r\n',
      'HTTP/1.1 200 OK\r\ncanary\r\n\r\n',
      'HTTP/1.1 200 OK\r\na: \x01canary\r\n\r\n',
      `${head('content-length: 1', 'content-length: 2')}canary`,
      `${head('transfer-encoding: chunked')}canary\r\n`,
    ]) {
      const end = await endOf(answer)
      assert.match(end, /^retry malformed_response: .* not HTTP/)
      assert.doesNotMatch(end, /canary/)
    }
    assert.equal(await endOf('HTTP/1.1 200 \x01\x02\r\ncontent-length: 2\r\n\r\nok'), 'ok')
  })

  test('gives an answer that trickles a deadline, and a file a least rate', async () => {
    let clock = 0
    /** One byte each second, by the clock that the egress measures with. */
    const trickle = (socket: Socket) => {
      socket.write(head())
      return writeForEver(socket, 'a', () => {
        clock += 1000
      })
    }
    const options = { now: () => clock }
    assert.match(await endOf(trickle, {}, options), /^retry timeout: .* 65536 bytes per second/)
    assert.ok(clock < 200_000, `${clock}`)
    clock = 0
    assert.match(await endOf(trickle, { streams: true }, options), /^retry timeout: .* 1024 bytes per second/)
    assert.ok(clock < 200_000, `${clock}`)
  })

  test('does not count the time in which nothing is read', async () => {
    let clock = 0
    const { url } = await startTestServer((socket) =>
      socket.end(`${head('content-length: 300000')}${'a'.repeat(300_000)}`),
    )
    const egress = createEgress({ networkPolicy: 'any', now: () => clock })
    closers.push(() => egress.close())
    let bytes = 0
    for await (const piece of (await egress.request(url)).body ?? []) {
      bytes += piece.length
      clock += 3_600_000
    }
    assert.equal(bytes, 300_000)
  })

  test('bounds the bytes of an answer, as they come and once they are decompressed', async () => {
    const endless = (socket: Socket) => {
      socket.write(head())
      return writeForEver(socket, 'a'.repeat(65_536))
    }
    assert.match(
      await endOf(endless),
      /^fail response_too_large: The server sent an answer of more than 16777216 bytes/,
    )
    const bodyBytes = 1 << 20
    const bounded = { bounds: { bodyBytes } }
    assert.match(await endOf(endless, { streams: true }, bounded), /^fail response_too_large: .* 1048576 bytes/)
    const bomb = gzipSync(Buffer.alloc(4 << 20))
    const packed = Buffer.concat([Buffer.from(head('content-encoding: gzip', `content-length: ${bomb.length}`)), bomb])
    assert.equal((await endOf(packed)).length, 4 << 20)
    const strict = { bounds: { unpackedBytes: 1 << 20 } }
    assert.match(await endOf(packed, {}, strict), /^fail response_too_large: .* 200 times/)
    const half = Buffer.concat([
      Buffer.from(head('content-encoding: gzip')),
      gzipSync('long '.repeat(999)).subarray(0, 30),
    ])
    assert.match(await endOf(half), /^retry connection_lost/)
    assert.match(await endOf(`${head('content-encoding: gzip')}nonsense`), /^retry malformed_response: .* decompressed/)
  })

  test('ends at its signal whatever the server does, and closes the connection', async () => {
    const states: [string, string][] = [
      ['nothing', ''],
      ['half a header', 'HTTP/1.1 200 OK\r\na: '],
      ['an interim answer', 'HTTP/1.1 100 Continue\r\n\r\n'],
      ['half a body', `${head('content-length: 100')}half`],
      ['half a chunk', `${head('transfer-encoding: chunked')}40\r\nhalf`],
      ['half of something compressed', `${head('content-encoding: gzip')}\x1f\x8b\x08`],
    ]
    for (const [name, answer] of states) {
      const reached = Promise.withResolvers()
      const { url, gone } = await startTestServer((socket) => socket.write(answer, 'latin1', reached.resolve))
      const egress = createEgress({ networkPolicy: 'any' })
      const stop = new AbortController()
      const work = egress.request(url, { signal: stop.signal }).then((response) => response.text())
      await Promise.race([reached.promise, work])
      stop.abort()
      await assert.rejects(work, { name: 'AbortError' }, name)
      await gone()
      await egress.close()
    }
  })

  test('sends a request twice only where there was no answer', async () => {
    let requests = 0
    const { url } = await startTestServer((socket) => {
      const answer = () => {
        requests += 1
        if (requests === 1) socket.write(`${head('content-length: 2')}ok`)
        else socket.write(`${head('content-length: 100')}half`, () => socket.resetAndDestroy())
      }
      answer()
      socket.on('data', answer)
    })
    const egress = createEgress({ networkPolicy: 'any' })
    closers.push(() => egress.close())
    assert.equal(await (await egress.request(url)).text(), 'ok')
    await assert.rejects((await egress.request(url)).text(), { code: 'connection_lost' })
    assert.equal(requests, 2)
  })

  test('lets go of a server that answers and takes no more of the request', async () => {
    const { url, gone } = await startTestServer((socket) => {
      socket.pause()
      socket.write(`${head('content-length: 2')}ok`)
    })
    const egress = createEgress({ networkPolicy: 'any' })
    closers.push(() => egress.close())
    const body = Buffer.alloc(32 << 20)
    assert.equal(await (await egress.request(url, { method: 'POST', body })).text(), 'ok')
    await gone()
  })

  test('closes the connection of a redirect that it does not follow', async () => {
    for (const [location, redirectsMax] of [
      ['http://user:password@localhost/', 5],
      ['ftp://localhost/', 5],
      ['http://169.254.169.254/', 5],
    ] as const) {
      const answer = `HTTP/1.1 302 Found\r\nlocation: ${location}\r\n\r\n`
      assert.match(await endOf((socket) => socket.write(answer), { redirectsMax }), /^reconfigure /)
    }
    const loop = 'HTTP/1.1 302 Found\r\nlocation: /\r\ncontent-length: 0\r\nconnection: close\r\n\r\n'
    assert.match(await endOf(loop, { redirectsMax: 1_000_000 }), /^fail unexpected_response: .* 10 times/)
  })
})
