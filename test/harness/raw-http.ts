import assert from 'node:assert/strict'
import { once } from 'node:events'
import { connect, type Socket } from 'node:net'

/** HTTP as bytes: requests that no client library would send, and every byte of the responses. */

export type RawReply = { status: number; headers: Readonly<Record<string, string>>; text: string }

const timeoutMs = 20_000

/** A socket to the service that is read to its end. */
export type Line = {
  readonly socket: Socket
  /** Sends bytes. If the other side has hung up, the rest is dropped. */
  write(bytes: string | Buffer): void
  /** Waits for this many replies. Rejects if the other side hangs up before, or takes too long. */
  replies(count: number): Promise<RawReply[]>
  /** Waits until the other side hangs up. Returns the earlier replies. */
  ended(): Promise<RawReply[]>
  /** Hangs up. */
  [Symbol.dispose](): void
}

export async function openLine(port: number, { head = false } = {}): Promise<Line> {
  const socket = connect({ port, host: '127.0.0.1', allowHalfOpen: true })
  const chunks: Buffer[] = []
  let over = false
  const progress = new Set<() => void>()
  const notify = () => {
    for (const listener of progress) listener()
  }
  socket.on('data', (chunk) => {
    chunks.push(chunk)
    notify()
  })
  for (const event of ['end', 'close', 'error'] as const) {
    socket.on(event, () => {
      over = true
      notify()
    })
  }
  await once(socket, 'connect')

  const until = (what: string, met: () => boolean) =>
    new Promise<void>((resolve, reject) => {
      const finish = (settle: () => void) => {
        clearTimeout(timer)
        progress.delete(look)
        settle()
      }
      const look = () => {
        try {
          if (met()) finish(resolve)
        } catch (error) {
          finish(() => reject(error))
        }
      }
      const timer = setTimeout(() => finish(() => reject(new Error(`the service did not ${what}`))), timeoutMs)
      progress.add(look)
      look()
    })
  const received = () => parseReplies(Buffer.concat(chunks), head)
  return {
    socket,
    write: (bytes) =>
      void (socket.writable && socket.write(typeof bytes === 'string' ? Buffer.from(bytes, 'latin1') : bytes)),
    replies: async (count) => {
      await until(`answer ${count} times`, () => over || received().length >= count)
      assert(received().length >= count, `${received().length} answers, then the service hung up`)
      return received()
    },
    ended: async () => {
      await until('hang up', () => over)
      return received()
    },
    [Symbol.dispose]: () => void socket.destroy(),
  }
}

/** Sends one request on a separate connection, and returns the reply. `head`: the reply will have no body. */
export async function exchange(port: number, bytes: string | Buffer, { head = false } = {}): Promise<RawReply> {
  using line = await openLine(port, { head })
  line.write(bytes)
  const [reply] = await line.replies(1)
  assert(reply)
  return reply
}

/** A request as bytes. Nothing is checked or escaped. Header values are latin1, as in HTTP. */
export function requestBytes(request: {
  method: string
  target: string
  headers: readonly (readonly [name: string, value: string])[]
  body?: Buffer | undefined
}): Buffer {
  const { method, target, headers, body } = request
  const lines = [`${method} ${target} HTTP/1.1`, ...headers.map(([name, value]) => `${name}: ${value}`), '', '']
  return Buffer.concat([Buffer.from(lines.join('\r\n'), 'latin1'), body ?? Buffer.alloc(0)])
}

/** The whole replies at the beginning of what was received. */
function parseReplies(received: Buffer, head: boolean): RawReply[] {
  const replies: RawReply[] = []
  let at = 0
  for (;;) {
    const end = received.indexOf('\r\n\r\n', at)
    if (end < 0) return replies
    const [first = '', ...lines] = received.toString('latin1', at, end).split('\r\n')
    const status = Number(/^HTTP\/1\.1 (\d{3}) /.exec(`${first} `)?.[1])
    assert(status >= 100, `not a status line: ${first.slice(0, 200)}`)
    const headers = Object.fromEntries(
      lines.map((line) => [line.slice(0, line.indexOf(':')).toLowerCase(), line.slice(line.indexOf(':') + 1).trim()]),
    )
    const read = head ? readNothing : headers['transfer-encoding'] === 'chunked' ? readChunks : readLength
    const body = read(received, end + 4, headers)
    if (!body) return replies
    // 100 Continue only announces the reply.
    if (status !== 100) replies.push({ status, headers, text: body.text })
    at = body.end
  }
}

const readNothing = (_received: Buffer, end: number) => ({ text: '', end })

function readLength(received: Buffer, begin: number, headers: Readonly<Record<string, string>>) {
  const end = begin + Number(headers['content-length'] ?? 0)
  return received.length < end ? undefined : { text: received.toString('utf8', begin, end), end }
}

function readChunks(received: Buffer, begin: number) {
  let text = ''
  let at = begin
  for (;;) {
    const line = received.indexOf('\r\n', at)
    if (line < 0) return undefined
    const length = Number.parseInt(received.toString('latin1', at, line), 16)
    const end = line + 2 + length + 2
    if (received.length < end) return undefined
    if (length === 0) return { text, end }
    text += received.toString('utf8', line + 2, end - 2)
    at = end
  }
}
