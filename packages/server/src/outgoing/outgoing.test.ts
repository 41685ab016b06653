import assert from 'node:assert/strict'
import { once } from 'node:events'
import net, { type AddressInfo, type Socket } from 'node:net'
import { after, describe, test } from 'node:test'
import { parseAllowed } from '@penstock/connector/egress/allowed'
import { createOutgoing, OutgoingError } from './outgoing.ts'

/** Requests to receivers that do what they want. */

const closers: (() => unknown)[] = []
after(async () => {
  for (const close of closers.reverse()) await close()
})

/** A receiver that answers what the test wants, once it has read the head of a request. */
async function startReceiver(answer: (socket: Socket) => unknown) {
  const sockets = new Set<Socket>()
  const counts = { connections: 0 }
  const server = net.createServer((socket) => {
    counts.connections++
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
  return { port: (server.address() as AddressInfo).port, counts }
}

const allowAny = {
  egress: { networkPolicy: 'any', allow: [], proxy: undefined, except: [], reason: '' },
  plainHttp: { loopback: true, allow: [] },
} as const

/** Result of a post to such a receiver: the status and the body, or the code. */
async function endOf(answer: string | ((socket: Socket) => unknown), timeoutMs = 5_000): Promise<string> {
  const { port } = await startReceiver(typeof answer === 'function' ? answer : (socket) => socket.end(answer))
  const outgoing = createOutgoing(allowAny)
  try {
    const request = { body: '{}', contentType: 'application/json', timeoutMs }
    const { status, body } = await outgoing.post(`http://127.0.0.1:${port}/`, request)
    return `${status} ${body}`
  } catch (error) {
    assert(error instanceof OutgoingError, String(error))
    return error.code
  } finally {
    await outgoing.close()
  }
}

async function writeForEver(socket: Socket, piece: string): Promise<void> {
  while (!socket.destroyed) {
    if (!socket.write(piece)) await Promise.race([once(socket, 'drain'), once(socket, 'close')])
    else await new Promise(setImmediate)
  }
}

describe('a request to an address of a tenant', { timeout: 60_000 }, () => {
  test('answers with the status and the beginning of the body', async () => {
    assert.equal(await endOf('HTTP/1.1 202 Accepted\r\nContent-Length: 2\r\n\r\nok'), '202 ok')
  })

  test('reads no more of an endless body than its beginning', async () => {
    const end = await endOf((socket) => {
      socket.write('HTTP/1.1 200 OK\r\n\r\n')
      return writeForEver(socket, 'x'.repeat(10_000))
    })
    assert.equal(end, `200 ${'x'.repeat(4_096)}`)
  })

  test('does not follow a redirect, to the metadata address for instance', async () => {
    const metadata = 'HTTP/1.1 302 Found\r\nLocation: http://169.254.169.254/latest\r\nContent-Length: 0\r\n\r\n'
    assert.equal(await endOf(metadata), '302 ')
    const target = await startReceiver((socket) => socket.end('HTTP/1.1 200 OK\r\n\r\n'))
    const here = `HTTP/1.1 307 Moved\r\nLocation: http://127.0.0.1:${target.port}/\r\nContent-Length: 0\r\n\r\n`
    assert.equal(await endOf(here), '307 ')
    assert.equal(target.counts.connections, 0)
  })

  test('ends in its time, where headers or the body come slowly', async () => {
    assert.equal(await endOf(() => {}, 200), 'timeout')
    const headers = (socket: Socket) => writeSlowly(socket, 'HTTP/1.1 200 OK\r\nX-', 'a')
    assert.equal(await endOf(headers, 200), 'timeout')
    // The status has come: it is the answer.
    const body = (socket: Socket) => writeSlowly(socket, 'HTTP/1.1 200 OK\r\n\r\n', 'b')
    assert.match(await endOf(body, 200), /^200 b*$/)
  })

  test('gives up on huge headers, a reset, and what is not HTTP', async () => {
    assert.equal(
      await endOf((socket) => {
        socket.write('HTTP/1.1 200 OK\r\nX-')
        return writeForEver(socket, 'a'.repeat(1_000))
      }),
      'response_too_large',
    )
    assert.equal(await endOf((socket) => socket.resetAndDestroy()), 'connection_lost')
    assert.equal(await endOf('220 mail.example.com ESMTP\r\n'), 'malformed_response')
  })

  test('connects to public addresses alone, unless the operator allows it, whatever a name resolves to', async () => {
    const { port, counts } = await startReceiver((socket) => socket.end('HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n'))
    const post = async (host: string, allow: string[] = []) => {
      const allowed = allow.map(parseAllowed).filter((one) => one !== undefined)
      const outgoing = createOutgoing({
        egress: { networkPolicy: 'public', allow: allowed, proxy: undefined, except: [], reason: '' },
        plainHttp: { loopback: true, allow: [] },
      })
      const request = { body: '{}', contentType: 'application/json' }
      const end = await outgoing.post(`http://${host}:${port}/`, request).catch((error: OutgoingError) => error)
      await outgoing.close()
      return end instanceof Error ? end.code : end.status
    }
    assert.equal(await post('127.0.0.1'), 'address_not_allowed')
    // The socket itself resolves a name, and connects only to the addresses that were checked.
    assert.equal(await post('localhost'), 'address_not_allowed')
    assert.equal(counts.connections, 0)
    assert.equal(await post('127.0.0.1', ['127.0.0.1']), 200)
    assert.equal(counts.connections, 1)
  })

  test('needs https, unless the operator allows http', async () => {
    const outgoing = createOutgoing({ ...allowAny, plainHttp: { loopback: false, allow: [] } })
    const codeOf = (url: string) =>
      outgoing.post(url, { body: '', contentType: 'text/plain' }).then(
        () => 'answered',
        (error) => (error instanceof OutgoingError ? error.code : String(error)),
      )
    assert.equal(await codeOf('http://127.0.0.1:9/'), 'insecure_address')
    for (const url of [
      'no address',
      'ftp://example.com/',
      'https://user:password@example.com/',
      'file:///etc/passwd',
    ]) {
      assert.equal(await codeOf(url), 'invalid_address', url)
    }
    assert.equal(await codeOf('https://169.254.169.254/latest'), 'address_not_allowed')
    await outgoing.close()
  })

  test('stops at the signal, with its reason', async () => {
    const { port } = await startReceiver(() => {})
    const outgoing = createOutgoing(allowAny)
    const stop = new AbortController()
    const request = { body: '{}', contentType: 'application/json', signal: stop.signal }
    const sent = outgoing.post(`http://127.0.0.1:${port}/`, request)
    const reason = new Error('stopped')
    stop.abort(reason)
    await assert.rejects(sent, reason)
    await outgoing.close()
  })
})

/** Writes a character each time that the event loop is idle. */
function writeSlowly(socket: Socket, start: string, piece: string): void {
  socket.write(start)
  const next = () => {
    if (socket.destroyed) return
    socket.write(piece)
    setTimeout(next, 20)
  }
  next()
}
