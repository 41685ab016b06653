import net from 'node:net'
import { type ConnectorContext, ConnectorError } from '@penstock/connector'
import ssh2, { type SFTPWrapper } from 'ssh2'
import { bounds } from './bounds.ts'
import { signInOf } from './credentials.ts'
import { type HostKey, hostKeyOf } from './host-key.ts'
import { connectionLost, connectorErrorOfSession, connectorErrorOfStatus, invalidAnswer, noSsh } from './problems.ts'

/** A server that answers none of four questions in a row, one every 15 seconds, is gone. */
const keepAlive = { keepaliveInterval: 15_000, keepaliveCountMax: 4 }

/**
 * Without the group exchange, in which the server chooses a prime that the library would examine for as long as that
 * takes; and without compression, in which little becomes much.
 */
const algorithms = {
  kex: { remove: ['diffie-hellman-group-exchange-sha256', 'diffie-hellman-group-exchange-sha1'] },
  compress: ['none'],
}

/** The callback of the library. */
export type Done<Value> = (error: Error | null | undefined, value?: Value) => void

/** A session of SFTP with a server. */
export type SftpSession = {
  readonly alive: boolean
  readonly hostname: string
  /**
   * Makes one request. Rejects with a `ConnectorError`, or with the reason of the signal.
   * @param subject what a message calls the thing that it is about: a path
   */
  call<Value = void>(subject: string, start: (sftp: SFTPWrapper, done: Done<Value>) => void): Promise<Value>
  /** Ends the session, and what is active with it. */
  end(connectorError: ConnectorError): void
  close(): void
}

/** Keeps one session, and opens another when that has ended. */
export type Sessions = { open(): Promise<SftpSession>; close(): void }

/** @param requestMs until one request is answered */
export function makeSessions(context: ConnectorContext, hostKey?: HostKey, requestMs?: number): Sessions {
  let current: Promise<SftpSession> | undefined
  return {
    async open() {
      const session = await current?.catch(() => undefined)
      if (session?.alive) return session
      current = openSession(context, hostKey, requestMs)
      return await current
    },
    close() {
      current?.then((session) => session.close()).catch(() => {})
    },
  }
}

/** Connects and signs in. Ends when the signal says so, and whatever is active with it. */
export async function openSession(
  { secrets, egress, signal }: ConnectorContext,
  hostKey = hostKeyOf(secrets),
  requestMs: number = bounds.requestMs,
): Promise<SftpSession> {
  const signIn = await signInOf(secrets, signal)
  const hostname = String(secrets.hostname)
  const port = Number(secrets.port ?? 22)
  const host = await egress.resolve(hostname, port)
  signal.throwIfAborted()
  const client = new ssh2.Client()
  const pending = new Set<(reason: unknown) => void>()
  let ended: unknown
  let signedIn = false
  // Requests are small, and each waits for its answer: they must not wait for company on their way.
  const socket = net.connect({ host, port, noDelay: true })

  const end = (reason: unknown) => {
    if (ended === undefined) ended = reason
    clearTimeout(timer)
    signal.removeEventListener('abort', stop)
    client.destroy()
    socket.destroy()
    for (const reject of pending) reject(ended)
    pending.clear()
  }
  const stop = () => end(signal.reason)
  const timer = setTimeout(() => end(tooSlow(hostname, bounds.signInMs)), bounds.signInMs)
  signal.addEventListener('abort', stop, { once: true })
  const fail = (error: unknown) => end(connectorErrorOfSession(error, hostname, signedIn))
  client.on('error', fail)
  client.on('close', () => end(connectionLost(hostname)))
  let exchanges = 0
  client.on('handshake', () => {
    exchanges += 1
    if (exchanges > bounds.keyExchanges) end(invalidAnswer(hostname, 'it exchanges keys again and again'))
  })
  // Some servers ask for a password only as the answer to a question.
  let prompts = 0
  client.on('keyboard-interactive', (_name, _instructions, _language, asked, finish) => {
    prompts += 1
    if (prompts > bounds.prompts || asked.length > bounds.prompts) return end(noSsh(hostname, 'it asks without end'))
    finish(asked.map(() => String(secrets.password)))
  })
  client.on('change password', () => end(passwordExpired(hostname)))

  const sftp = await new Promise<SFTPWrapper>((resolve, reject) => {
    pending.add(reject)
    client.on('ready', () => {
      client.sftp((error, wrapper) => {
        if (error) {
          const broken = (error as { level?: unknown }).level === 'sftp-protocol'
          return end(broken ? invalidAnswer(hostname, 'it does not begin SFTP as it should') : noSftp(hostname))
        }
        signedIn = true
        hostKey.confirm()
        clearTimeout(timer)
        pending.delete(reject)
        wrapper.on('error', fail)
        wrapper.on('close', () => end(connectionLost(hostname)))
        resolve(wrapper)
      })
    })
    client.connect({
      ...signIn,
      ...keepAlive,
      sock: socket,
      algorithms: algorithms as never,
      readyTimeout: 0,
      hostVerifier: (key: Buffer) => {
        const refusal = hostKey.judge(key)
        if (refusal) end(refusal)
        return refusal === undefined
      },
    })
    // The library has stopped the socket until it listens, so this does not start it.
    socket.on('data', () => {
      if (!signedIn && socket.bytesRead > bounds.signInBytes) end(noSsh(hostname, 'it sends without end'))
      if (socket.writableLength > bounds.waitingBytes) end(invalidAnswer(hostname, 'it asks and does not listen'))
    })
  })

  return {
    get alive() {
      return ended === undefined
    },
    hostname,
    call(subject, start) {
      return new Promise((resolve, reject) => {
        if (ended !== undefined) return reject(ended)
        const limit = setTimeout(() => end(tooSlow(hostname, requestMs)), requestMs)
        const settle = () => {
          clearTimeout(limit)
          pending.delete(refuse)
        }
        const refuse = (reason: unknown) => {
          settle()
          reject(reason)
        }
        pending.add(refuse)
        start(sftp, (error, value) => {
          settle()
          if (error) reject(connectorErrorOfStatus(error, subject) ?? ended ?? connectionLost(hostname))
          else resolve(value as never)
        })
      })
    },
    end,
    close: () => end(connectionLost(hostname)),
  }
}

const tooSlow = (host: string, timeoutMs: number): ConnectorError =>
  new ConnectorError('timeout', `${host} has not answered within ${timeoutMs / 1000} seconds.`)

const noSftp = (host: string): ConnectorError =>
  new ConnectorError('not_supported', `${host} accepted the user, but does not offer SFTP to this user.`)

const passwordExpired = (host: string): ConnectorError =>
  new ConnectorError(
    'expired_credentials',
    `${host} requires a new password for this user; set one there, then save it here.`,
  )
