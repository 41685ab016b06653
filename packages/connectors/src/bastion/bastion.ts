import { createHash } from 'node:crypto'
import { asConnectorError, type ConnectOptions, ConnectorError, type TcpStream, type Values } from '@penstock/connector'
import type { Dial, Relay } from '@penstock/connector/egress'
import { bounds } from '../sftp/bounds.ts'
import { signInOf } from '../sftp/credentials.ts'
import { hostKeyOf } from '../sftp/host-key.ts'
import { connectionLost, connectorErrorOfSession } from '../sftp/problems.ts'
import { type SshClient, startSsh } from '../sftp/ssh-client.ts'
import { BastionStream } from './bastion-stream.ts'

/** A session with a bastion, through which all jobs of this process with the same settings connect. */
type Bastion = Relay & { readonly isAlive: boolean }

export type BastionOptions = {
  /** How often the bastion must show that it is alive, in milliseconds. It is treated as gone after four missed checks. */
  readonly keepAliveMs?: number
  /** How long a session without connections is kept, in milliseconds. */
  readonly idleMs?: number
}

const idleMsDefault = 10_000
const connectMs = 15_000

/** Sessions by the digest of their settings and secrets. A process has one network policy, so it is not part of the digest. */
const shared = new Map<string, Promise<Bastion>>()

/**
 * The session with the bastion of a configuration: the open one, or a new one. Throws a `ConnectorError`, or the reason of the
 * signal.
 * @param dial connects to the bastion
 * @param secrets the configuration, with the fields of `withNetwork`
 */
export async function openBastion(
  dial: Dial,
  secrets: Values,
  { signal }: ConnectOptions = {},
  options: BastionOptions = {},
): Promise<Relay> {
  const key = keyOf(secrets)
  for (;;) {
    signal?.throwIfAborted()
    const opening = shared.get(key)
    const bastion = await orAborted(opening ?? begin(key, dial, secrets, options), signal)
    if (bastion.isAlive) return bastion
    if (shared.get(key) === opening) shared.delete(key)
  }
}

function begin(key: string, dial: Dial, secrets: Values, options: BastionOptions): Promise<Bastion> {
  const opening = start(dial, secrets, options)
  shared.set(key, opening)
  opening.catch(() => {
    if (shared.get(key) === opening) shared.delete(key)
  })
  return opening
}

function keyOf(secrets: Values): string {
  const own = Object.entries(secrets).filter(([key]) => key.startsWith('bastion'))
  return createHash('sha256').update(JSON.stringify(own.toSorted())).digest('hex')
}

/** The session belongs to all who wait for it, so the signal of one of them does not end it. */
function orAborted<T>(work: Promise<T>, signal: AbortSignal | undefined): Promise<T> {
  if (!signal) return work
  return new Promise((resolve, reject) => {
    const stop = () => reject(signal.reason)
    signal.addEventListener('abort', stop, { once: true })
    work.then(resolve, reject).finally(() => signal.removeEventListener('abort', stop))
  })
}

async function start(
  dial: Dial,
  secrets: Values,
  { keepAliveMs, idleMs = idleMsDefault }: BastionOptions,
): Promise<Bastion> {
  const own = {
    hostname: String(secrets.bastionHost).trim(),
    port: Number(secrets.bastionPort ?? 22),
    username: String(secrets.bastionUser),
    authentication: String(secrets.bastionAuthentication ?? 'private key'),
    ...(secrets.bastionPassword !== undefined && { password: secrets.bastionPassword }),
    ...(secrets.bastionPrivateKey !== undefined && { sshPrivateKey: secrets.bastionPrivateKey }),
    ...(secrets.bastionPassphrase !== undefined && { passphrase: secrets.bastionPassphrase }),
    ...(secrets.bastionHostKey !== undefined && { hostKeyFingerprint: secrets.bastionHostKey }),
  }
  const hostname = `SSH bastion ${own.hostname}`
  const advice = 'save it as the bastion host key'
  const hostKey = hostKeyOf(own, undefined, { field: 'bastionHostKey', name: hostname, advice })
  const signIn = await signInOf(own, AbortSignal.timeout(bounds.keyMs))
  const { stream, address } = await dial(own.hostname, own.port, { timeoutMs: connectMs }).catch((error: unknown) => {
    throw connectorErrorOfSession(error, hostname, false)
  })
  /** Rejects what waits for the bastion. */
  const waiting = new Set<(reason: unknown) => void>()
  const streams = new Set<BastionStream>()
  /** Streams for which the process stays alive. */
  const used = new Set<BastionStream>()
  let idle: NodeJS.Timeout | undefined
  const ssh = startSsh(
    { stream, hostname, signIn, hostKey, ...(keepAliveMs === undefined ? {} : { keepAliveMs }) },
    (reason) => {
      clearTimeout(idle)
      for (const reject of waiting) reject(reason)
      waiting.clear()
      for (const each of streams) each.destroy(reason as Error)
    },
  )
  const rest = () => {
    if (used.size > 0) stream.ref()
    else stream.unref()
    clearTimeout(idle)
    if (streams.size === 0) idle = setTimeout(endIdle, idleMs).unref()
  }
  const endIdle = () => (waiting.size > 0 ? rest() : ssh.end(connectionLost(hostname)))
  const onUse = (of: BastionStream, isUsed: boolean) => {
    if (isUsed) used.add(of)
    else used.delete(of)
    if (of.destroyed) streams.delete(of)
    else streams.add(of)
    rest()
  }
  await new Promise<void>((resolve, reject) => {
    waiting.add(reject)
    ssh.client.on('ready', () => {
      ssh.begun()
      waiting.delete(reject)
      rest()
      resolve()
    })
  })
  return {
    kind: 'bastion',
    address,
    get isAlive() {
      return ssh.ended === undefined
    },
    connect: (host, port, options) => forward(ssh, { hostname, host, port, waiting, onUse }, options),
  }
}

type Forward = {
  /** The bastion, in messages. */
  readonly hostname: string
  readonly host: string
  readonly port: number
  readonly waiting: Set<(reason: unknown) => void>
  readonly onUse: (stream: BastionStream, isUsed: boolean) => void
}

/** Has the bastion connect to a host. */
function forward(
  { client, ended }: SshClient,
  { hostname, host, port, waiting, onUse }: Forward,
  { signal, timeoutMs = connectMs }: ConnectOptions,
): Promise<TcpStream> {
  return new Promise((resolve, reject) => {
    if (ended !== undefined) return reject(ended)
    let settled = false
    const settle = () => {
      settled = true
      clearTimeout(timer)
      waiting.delete(fail)
      signal?.removeEventListener('abort', stop)
    }
    const fail = (reason: unknown) => {
      settle()
      reject(reason)
    }
    const stop = () => fail(signal?.reason)
    const timer = setTimeout(() => fail(noConnection(hostname, host, port, timeoutMs)), timeoutMs)
    waiting.add(fail)
    signal?.addEventListener('abort', stop, { once: true })
    try {
      client.forwardOut('127.0.0.1', 0, host, port, (error, channel) => {
        if (settled) return void channel?.destroy()
        if (error) return fail(errorOfForwarding(error, hostname, `${host}:${port}`))
        settle()
        resolve(new BastionStream(channel, onUse))
      })
    } catch {
      fail(connectionLost(hostname))
    }
  })
}

const noConnection = (hostname: string, host: string, port: number, timeoutMs: number): ConnectorError =>
  new ConnectorError(
    'unreachable',
    `${hostname} did not reach ${host}:${port} within ${timeoutMs / 1000} seconds; check the address and the port as the bastion knows them.`,
  )

/** The reasons of RFC 4254, section 5.1. */
const reasons = { prohibited: 1, connectFailed: 2, unknownType: 3, shortage: 4 } as const

function errorOfForwarding(error: Error, hostname: string, target: string): ConnectorError {
  const known = asConnectorError(error)
  if (known) return known
  const { reason } = error as { reason?: unknown }
  if (reason === reasons.prohibited || reason === reasons.unknownType) {
    return new ConnectorError(
      'permission_denied',
      `${hostname} does not let this user connect to ${target}. Allow it there, with AllowTcpForwarding and PermitOpen of OpenSSH.`,
    )
  }
  if (reason === reasons.connectFailed) {
    const isName = /resol|not known|no such host/i.test(error.message)
    return isName
      ? new ConnectorError('host_not_found', `${hostname} cannot find the name in ${target}. Check the address.`)
      : new ConnectorError(
          'unreachable',
          `${hostname} cannot reach ${target}; check the address and the port as the bastion knows them, and that the server runs.`,
        )
  }
  if (reason === reasons.shortage) {
    return new ConnectorError('platform_unavailable', `${hostname} has no room for another connection.`)
  }
  return connectionLost(hostname)
}
