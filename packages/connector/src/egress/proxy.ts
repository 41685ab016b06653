import { isIP, isIPv4 } from 'node:net'
import { ConnectorError } from '../connector-error.ts'
import type { ConnectOptions, TcpStream } from '../context.ts'
import { connectMs, type Dial } from './dial.ts'
import { connectorErrorOfError } from './errors.ts'
import type { OutgoingProxy } from './proxy-address.ts'
import type { OpenRelay } from './relay.ts'

/** Connects through a proxy. @param dial connects to the proxy */
export const proxyRelay =
  (proxy: OutgoingProxy, dial: Dial): OpenRelay =>
  async () => ({
    kind: 'proxy',
    address: '',
    async connect(address, port, { signal, timeoutMs = connectMs }) {
      const name = `proxy ${proxy.host}:${proxy.port}`
      const { stream } = await dial(proxy.host, proxy.port, { signal, timeoutMs }).catch((error) => {
        throw signal?.aborted ? signal.reason : connectorErrorOfError(error, name)
      })
      return await within(stream, { signal, timeoutMs }, `${name} did not connect to ${address}:${port}`, async () => {
        const line = proxy.scheme === 'https' ? await secured(stream, proxy.host, name) : stream
        const target = { name, address, port }
        if (proxy.scheme === 'socks5') await askSocks(line, proxy, target)
        else await askHttp(line, proxy, target)
        return line
      })
    },
  })

type Target = { readonly name: string; readonly address: string; readonly port: number }

/** Ends the stream, and so the work with it, when the time is over or the signal is aborted. */
async function within(
  stream: TcpStream,
  { signal, timeoutMs = connectMs }: ConnectOptions,
  what: string,
  work: () => Promise<TcpStream>,
): Promise<TcpStream> {
  const late = new ConnectorError('unreachable', `The ${what} within ${timeoutMs / 1000} seconds.`)
  const stop = () => stream.destroy(signal?.reason)
  const timer = setTimeout(() => stream.destroy(late), timeoutMs)
  signal?.addEventListener('abort', stop, { once: true })
  try {
    if (signal?.aborted) throw signal.reason
    return await work()
  } catch (error) {
    stream.destroy()
    throw signal?.aborted ? signal.reason : error
  } finally {
    clearTimeout(timer)
    signal?.removeEventListener('abort', stop)
  }
}

function secured(socket: TcpStream, host: string, name: string): Promise<TcpStream> {
  const line = process
    .getBuiltinModule('node:tls')
    .connect({ socket, host, ...(isIP(host) === 0 && { servername: host }) })
  return new Promise((resolve, reject) => {
    line.once('secureConnect', () => resolve(line))
    line.on('error', (error) => reject(connectorErrorOfError(error, name)))
    line.on('close', () => reject(lost(name)))
  })
}

const headBytesMax = 16 << 10

async function askHttp(line: TcpStream, { user, password }: OutgoingProxy, target: Target): Promise<void> {
  const { name, address, port } = target
  const host = `${isIP(address) === 6 ? `[${address}]` : address}:${port}`
  const credentials = Buffer.from(`${user}:${password}`).toString('base64')
  const signIn = user === '' ? '' : `Proxy-Authorization: Basic ${credentials}\r\n`
  line.write(`CONNECT ${host} HTTP/1.1\r\nHost: ${host}\r\n${signIn}\r\n`)
  const status = await read(line, name, (bytes) => {
    const end = bytes.indexOf('\r\n\r\n')
    if (end < 0 && bytes.length > headBytesMax) throw noProxy(name)
    if (end < 0) return undefined
    const found = /^HTTP\/1\.[01] (\d{3})/.exec(bytes.subarray(0, end).toString('latin1'))?.[1]
    if (found === undefined) throw noProxy(name)
    return { value: Number(found), length: end + 4 }
  })
  if (status >= 200 && status <= 299) return
  // 401 is wrong here, but some proxies send it.
  if (status === 407 || status === 401) throw wrongCredentials(name)
  if (status >= 500) throw noAnswer(target)
  throw refused(target, `status ${status}`)
}

async function askSocks(line: TcpStream, { user, password }: OutgoingProxy, target: Target): Promise<void> {
  const { name, address, port } = target
  const answer = (length: number, first: number) =>
    read(line, name, (bytes) => {
      if (bytes.length > 0 && bytes[0] !== first) throw noProxy(name)
      return bytes.length < length ? undefined : { value: bytes.subarray(0, length), length }
    })
  line.write(Buffer.from(user === '' ? [5, 1, 0] : [5, 2, 0, 2]))
  const [, method] = await answer(2, 5)
  if (method === 2 && user !== '') {
    const [name1, name2] = [Buffer.from(user), Buffer.from(password)]
    line.write(Buffer.concat([Buffer.from([1, name1.length]), name1, Buffer.from([name2.length]), name2]))
    const [, status] = await answer(2, 1)
    if (status !== 0) throw wrongCredentials(name)
  } else if (method !== 0) throw wrongCredentials(name)
  const bytes = bytesOf(address)
  line.write(
    Buffer.concat([Buffer.from([5, 1, 0, isIPv4(address) ? 1 : 4]), bytes, Buffer.from([port >> 8, port & 255])]),
  )
  const code = await read(line, name, (received) => {
    if (received.length > 0 && received[0] !== 5) throw noProxy(name)
    if (received.length < 5) return undefined
    const lengths: Record<number, number> = { 1: 4, 3: 1 + (received[4] ?? 0), 4: 16 }
    const length = 4 + (lengths[received[3] ?? 0] ?? 4) + 2
    return received.length < length ? undefined : { value: received[1] ?? 1, length }
  })
  if (code === 0) return
  // RFC 1928, section 6: 2 is forbidden by a rule, 7 a command and 8 an address that the proxy does not know.
  if (code === 2 || code === 7 || code === 8) throw refused(target, `code ${code}`)
  throw noAnswer(target)
}

/** The bytes of an IP address. */
function bytesOf(address: string): Buffer {
  if (isIPv4(address)) return Buffer.from(address.split('.').map(Number))
  // URLs have IPv6 in its short form, without IPv4 in it.
  const [head = '', tail] = new URL(`http://[${address.replace(/%.*$/s, '')}]`).hostname.slice(1, -1).split('::')
  const wordsOf = (text = '') => text.split(':').filter(Boolean)
  const [first, last] = [wordsOf(head), wordsOf(tail)]
  const words = [...first, ...Array.from({ length: 8 - first.length - last.length }, () => '0'), ...last]
  return Buffer.from(words.map((word) => word.padStart(4, '0')).join(''), 'hex')
}

/**
 * Reads an answer, and leaves the following bytes in the stream.
 * @param take returns the value and the number of its bytes, or undefined if more bytes are needed
 */
function read<T>(
  line: TcpStream,
  name: string,
  take: (bytes: Buffer) => { readonly value: T; readonly length: number } | undefined,
): Promise<T> {
  return new Promise((resolve, reject) => {
    let held = Buffer.alloc(0)
    const settle = () => {
      line.off('readable', onReadable)
      line.off('error', onError)
      line.off('close', onEnd)
      line.off('end', onEnd)
    }
    const onError = (error: unknown) => {
      settle()
      reject(connectorErrorOfError(error, name))
    }
    const onEnd = () => {
      settle()
      reject(lost(name))
    }
    const onReadable = () => {
      try {
        for (;;) {
          const taken = take(held)
          if (taken) {
            settle()
            const rest = held.subarray(taken.length)
            if (rest.length > 0) line.unshift(rest)
            return resolve(taken.value)
          }
          const bytes: Buffer | null = line.read()
          if (bytes === null) return
          held = Buffer.concat([held, bytes])
        }
      } catch (error) {
        settle()
        reject(error)
      }
    }
    line.on('error', onError)
    line.on('close', onEnd)
    line.on('end', onEnd)
    line.on('readable', onReadable)
  })
}

const wrongCredentials = (name: string): ConnectorError =>
  new ConnectorError('invalid_credentials', `The ${name} denies access. Check its user and password.`)

const refused = ({ name, address, port }: Target, how: string): ConnectorError =>
  new ConnectorError(
    'permission_denied',
    `The ${name} does not connect to ${address}:${port} (${how}). Ask the operator of the proxy to allow this address and port.`,
  )

const noAnswer = ({ name, address, port }: Target): ConnectorError =>
  new ConnectorError('unreachable', `The ${name} cannot reach ${address}:${port}. Check the address and the port.`)

const noProxy = (name: string): ConnectorError =>
  new ConnectorError('wrong_protocol', `The ${name} does not answer like a proxy of its kind. Check its address.`)

const lost = (name: string): ConnectorError =>
  new ConnectorError('connection_lost', `The connection to the ${name} was interrupted.`)
