import { createHash } from 'node:crypto'
import { type ConnectorContext, Outcome } from '@penstock/connector'
import ssh2, { type SFTPWrapper } from 'ssh2'
import { hostJudge, signInOf } from './credentials.ts'
import { connectionLost, outcomeOfSession, outcomeOfStatus } from './faults.ts'

const timeoutMs = 60_000
const signInTimeoutMs = 30_000
/** A server that answers none of four questions in a row, one every 15 seconds, is gone. */
const keepAlive = { keepaliveInterval: 15_000, keepaliveCountMax: 4 }

/** What the library calls back with. */
export type Done<Value> = (error: Error | null | undefined, value?: Value) => void

/** A session of SFTP with a server. */
export type Session = {
  readonly alive: boolean
  /**
   * Makes one request. Rejects with an `Outcome`, or with the reason of the signal.
   * @param subject what a message calls the thing that it is about: a path
   */
  call<Value = void>(subject: string, start: (sftp: SFTPWrapper, done: Done<Value>) => void): Promise<Value>
  close(): void
}

/** Keeps one session, and opens another when that has ended. */
export type Sessions = { open(): Promise<Session>; close(): void }

export function makeSessions(context: ConnectorContext): Sessions {
  let current: Promise<Session> | undefined
  return {
    async open() {
      const session = await current?.catch(() => undefined)
      if (session?.alive) return session
      current = openSession(context)
      return await current
    },
    close() {
      current?.then((session) => session.close()).catch(() => {})
    },
  }
}

/** Connects and signs in. Ends when the signal says so, and whatever is under way with it. */
export async function openSession({ secrets, egress, signal }: ConnectorContext): Promise<Session> {
  const signIn = signInOf(secrets)
  const hostname = String(secrets.hostname)
  const port = Number(secrets.port ?? 22)
  const host = await egress.resolve(hostname, port)
  signal.throwIfAborted()
  const client = new ssh2.Client()
  const pending = new Set<(reason: unknown) => void>()
  let ended: unknown

  const end = (reason: unknown) => {
    if (ended === undefined) ended = reason
    signal.removeEventListener('abort', stop)
    client.destroy()
    for (const reject of pending) reject(ended)
    pending.clear()
  }
  const stop = () => end(signal.reason)
  signal.addEventListener('abort', stop, { once: true })
  client.on('error', (error) => end(outcomeOfSession(error, hostname)))
  client.on('close', () => end(connectionLost(hostname)))
  // Requests are small, and each waits for its answer: they must not wait for company on their way.
  client.on('connect', () => client.setNoDelay(true))
  // Some servers ask for a password only as the answer to a question.
  client.on('keyboard-interactive', (_name, _instructions, _language, prompts, finish) => {
    finish(prompts.map(() => String(secrets.password)))
  })

  const judge = hostJudge(secrets.hostKeyFingerprint, (key) => createHash('sha256').update(key).digest('base64'))
  const sftp = await new Promise<SFTPWrapper>((resolve, reject) => {
    pending.add(reject)
    client.on('ready', () => {
      client.sftp((error, wrapper) => {
        if (error) return end(noSftp(hostname))
        pending.delete(reject)
        wrapper.on('error', (fault: unknown) => end(outcomeOfSession(fault, hostname)))
        wrapper.on('close', () => end(connectionLost(hostname)))
        resolve(wrapper)
      })
    })
    client.connect({
      ...signIn,
      ...keepAlive,
      ...{ host, port, readyTimeout: signInTimeoutMs },
      hostVerifier: (key: Buffer) => {
        const known = judge(key)
        if (!known) end(strangeHost(hostname))
        return known
      },
    })
  })

  return {
    get alive() {
      return ended === undefined
    },
    call(subject, start) {
      return new Promise((resolve, reject) => {
        if (ended !== undefined) return reject(ended)
        const timer = setTimeout(() => end(tooSlow(hostname)), timeoutMs)
        const settle = () => {
          clearTimeout(timer)
          pending.delete(fail)
        }
        const fail = (reason: unknown) => {
          settle()
          reject(reason)
        }
        pending.add(fail)
        start(sftp, (error, value) => {
          settle()
          if (error) reject(outcomeOfStatus(error, subject) ?? ended ?? connectionLost(hostname))
          else resolve(value as never)
        })
      })
    },
    close: () => end(connectionLost(hostname)),
  }
}

const tooSlow = (host: string): Outcome =>
  new Outcome('retry', 'timeout', `${host} has not answered within ${timeoutMs / 1000} seconds.`)

const noSftp = (host: string): Outcome =>
  new Outcome('refused', 'no_sftp', `${host} let the user in, but does not offer SFTP to this user.`)

const strangeHost = (host: string): Outcome =>
  new Outcome(
    'refused',
    'strange_host_key',
    `${host} shows another host key than the one that is set. Somebody could be listening: ask who runs the server whether the key has changed.`,
  )
