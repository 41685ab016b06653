import type { TcpStream } from '@penstock/connector'
import ssh2, { type ConnectConfig } from 'ssh2'
import { bounds } from './bounds.ts'
import type { HostKey } from './host-key.ts'
import { connectionLost, connectorErrorOfSession, invalidAnswer, noSsh, passwordExpired, tooSlow } from './problems.ts'

/** A server that does not answer four consecutive requests, one every 15 seconds, is treated as gone. */
const keepAlive = { keepaliveInterval: 15_000, keepaliveCountMax: 4 }

/**
 * Without group exchange, in which the server chooses a prime, because the library would examine any prime for as long as that
 * takes. Without compression, in which little data can become much.
 */
const algorithms = {
  kex: { remove: ['diffie-hellman-group-exchange-sha256', 'diffie-hellman-group-exchange-sha1'] },
  compress: ['none'],
}

export type SshLogin = {
  /** A connection to the server. */
  readonly stream: TcpStream
  readonly hostname: string
  readonly signIn: ConnectConfig
  readonly hostKey: HostKey
  /** Until the session is ready for work, in milliseconds. */
  readonly readyMs?: number
  /** How often the server is asked whether it is still there, in milliseconds. */
  readonly keepAliveMs?: number
}

/** A session of SSH. */
export type SshClient = {
  readonly client: ssh2.Client
  /** Why it ended. `undefined` while it is active. */
  readonly ended: unknown
  /** Says that the work in the session has begun. Without it, the session ends when `readyMs` are over. */
  begun(): void
  /** Ends the session. Only the first reason counts. */
  end(reason: unknown): void
}

/**
 * Signs in to a server. `ready` of the client means that the user is signed in.
 * @param onEnd is called once with the reason, a `ConnectorError` unless the caller ended the session
 */
export function startSsh(
  { stream, hostname, signIn, hostKey, readyMs = bounds.signInMs, keepAliveMs = keepAlive.keepaliveInterval }: SshLogin,
  onEnd: (reason: unknown) => void,
): SshClient {
  const client = new ssh2.Client()
  let ended: unknown
  let hasBegun = false
  const end = (reason: unknown) => {
    if (ended !== undefined) return
    ended = reason
    clearTimeout(timer)
    client.destroy()
    stream.destroy()
    onEnd(reason)
  }
  const timer = setTimeout(() => end(tooSlow(hostname, readyMs)), readyMs)
  client.on('error', (error) => end(connectorErrorOfSession(error, hostname, hasBegun)))
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
    finish(asked.map(() => String(signIn.password)))
  })
  client.on('change password', () => end(passwordExpired(hostname)))
  client.connect({
    ...signIn,
    ...keepAlive,
    keepaliveInterval: keepAliveMs,
    sock: stream,
    algorithms: algorithms as never,
    readyTimeout: 0,
    hostVerifier: (key: Buffer) => {
      const refusal = hostKey.judge(key)
      if (refusal) end(refusal)
      return refusal === undefined
    },
  })
  let received = 0
  // The library has stopped the stream until it listens, so this does not start it.
  stream.on('data', (bytes: Buffer) => {
    received += bytes.length
    if (!hasBegun && received > bounds.signInBytes) end(noSsh(hostname, 'it sends without end'))
    if (stream.writableLength > bounds.waitingBytes) end(invalidAnswer(hostname, 'it asks and does not listen'))
  })
  return {
    client,
    get ended() {
      return ended
    },
    begun() {
      hasBegun = true
      hostKey.confirm()
      clearTimeout(timer)
    },
    end,
  }
}
