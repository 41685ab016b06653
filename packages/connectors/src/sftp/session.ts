import { type ConnectorContext, ConnectorError } from '@penstock/connector'
import type { SFTPWrapper } from 'ssh2'
import { bounds } from './bounds.ts'
import { signInOf } from './credentials.ts'
import { type HostKey, hostKeyOf } from './host-key.ts'
import { connectionLost, connectorErrorOfSession, connectorErrorOfStatus, invalidAnswer, tooSlow } from './problems.ts'
import { startSsh } from './ssh-client.ts'

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
  /** Ends the session, and its active requests. */
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

/** Connects and signs in. If the signal is aborted, the session and its active requests end. */
export async function openSession(
  { secrets, egress, signal }: ConnectorContext,
  hostKey = hostKeyOf(secrets),
  requestMs: number = bounds.requestMs,
): Promise<SftpSession> {
  const signIn = await signInOf(secrets, signal)
  const hostname = String(secrets.hostname)
  const port = Number(secrets.port ?? 22)
  const stream = await egress.connect(hostname, port, { signal, timeoutMs: bounds.signInMs }).catch((error) => {
    throw signal.aborted ? signal.reason : connectorErrorOfSession(error, hostname, false)
  })
  const pending = new Set<(reason: unknown) => void>()
  const stop = () => ssh.end(signal.reason)
  const ssh = startSsh({ stream, hostname, signIn, hostKey }, (reason) => {
    signal.removeEventListener('abort', stop)
    for (const reject of pending) reject(reason)
    pending.clear()
  })
  const { end } = ssh
  signal.addEventListener('abort', stop, { once: true })
  if (signal.aborted) stop()

  const sftp = await new Promise<SFTPWrapper>((resolve, reject) => {
    pending.add(reject)
    ssh.client.on('ready', () => {
      ssh.client.sftp((error, wrapper) => {
        if (error) {
          const broken = (error as { level?: unknown }).level === 'sftp-protocol'
          return end(broken ? invalidAnswer(hostname, 'it does not begin SFTP as it should') : noSftp(hostname))
        }
        ssh.begun()
        pending.delete(reject)
        wrapper.on('error', (error: unknown) => end(connectorErrorOfSession(error, hostname, true)))
        wrapper.on('close', () => end(connectionLost(hostname)))
        resolve(wrapper)
      })
    })
  })

  return {
    get alive() {
      return ssh.ended === undefined
    },
    hostname,
    call(subject, start) {
      return new Promise((resolve, reject) => {
        if (ssh.ended !== undefined) return reject(ssh.ended)
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
          if (error) reject(connectorErrorOfStatus(error, subject) ?? ssh.ended ?? connectionLost(hostname))
          else resolve(value as never)
        })
      })
    },
    end,
    close: () => end(connectionLost(hostname)),
  }
}

const noSftp = (host: string): ConnectorError =>
  new ConnectorError('not_supported', `${host} accepted the user, but does not offer SFTP to this user.`)
