import { createPrivateKey, type KeyObject } from 'node:crypto'
import { ConnectorError } from '@penstock/connector'
import ssh2 from 'ssh2'
import { bounds } from './bounds.ts'
import { type LockedKey, unlock } from './unlock.ts'

/**
 * A private key in a form that the library accepts without any work: without a passphrase, and of a size with which it signs
 * immediately. Throws `invalid_credentials` if the text is not such a key, if the passphrase does not decrypt it, or if
 * decryption takes too much work.
 * @param given OpenSSH, PEM of OpenSSL before PKCS #8, or PuTTY 2; line breaks can be written as `\n`
 */
export async function readPrivateKey(
  given: string,
  passphrase: string | undefined,
  signal: AbortSignal,
): Promise<string> {
  const text = `${given.trim().replaceAll('\\n', '\n').replaceAll('\r\n', '\n')}\n`
  assertForm(text)
  const locked = lockedKeyOf(text)
  if (locked && locked.rounds > bounds.keyRounds) throw tooManyRounds(locked.rounds)
  const opened = locked && passphrase !== undefined ? await open(locked, passphrase, signal) : undefined
  const parsed = ssh2.utils.parseKey(opened ?? text, opened ? undefined : passphrase)
  if (parsed instanceof Error || !parsed.isPrivateKey()) throw invalidKey(parsed instanceof Error ? parsed.message : '')
  assertSize(parsed.getPrivatePEM())
  return opened ?? (passphrase === undefined ? text : withoutPassphrase(parsed.getPrivatePEM()))
}

const base64Line = /^[A-Za-z0-9+/=]*$/
const headerLine = /^[A-Za-z-]{1,40}: [\w ,./-]{1,200}$/

/** The library's own patterns take very long for texts that are nearly keys, so that only the form of one gets there. */
function assertForm(text: string): void {
  const lines = text.trim().split('\n')
  const [first = ''] = lines
  const kind = /^-----BEGIN ([A-Z ]{1,40})-----$/.exec(first)?.[1]
  if (kind === 'PRIVATE KEY' || kind === 'ENCRYPTED PRIVATE KEY') throw otherForm('PKCS #8')
  if (/^PuTTY-User-Key-File-(?!2)/.test(first)) throw otherForm('PuTTY 3')
  if (first.startsWith('PuTTY-User-Key-File-2:')) {
    if (lines.filter((line) => line.startsWith('Private-Lines:')).length !== 1) throw invalidKey('')
    return
  }
  const inner = lines.slice(1, -1)
  const headers = kind === 'OPENSSH PRIVATE KEY' ? 0 : inner.findIndex((line) => !headerLine.test(line))
  const fits =
    kind !== undefined &&
    /^(OPENSSH|RSA|DSA|EC) PRIVATE KEY$/.test(kind) &&
    lines.at(-1) === `-----END ${kind}-----` &&
    headers >= 0 &&
    headers <= 8 &&
    inner.slice(headers).every((line) => base64Line.test(line.trim()))
  if (!fits) throw invalidKey('')
}

/** An encrypted OpenSSH key, with what its file says of it in the clear. */
type LockedFile = LockedKey & { readonly publicKey: Buffer }

/**
 * The parts of an OpenSSH key that is encrypted with a passphrase. `undefined` if it has no passphrase, or is not such a key.
 */
function lockedKeyOf(text: string): LockedFile | undefined {
  const body = /^-----BEGIN OPENSSH PRIVATE KEY-----\n([^-]+)\n-----END/.exec(text)?.[1]
  if (body === undefined) return undefined
  const bytes = Buffer.from(body, 'base64')
  let at = magic.length
  const next = (): Buffer => {
    const start = at + 4
    const length = start <= bytes.length ? bytes.readUInt32BE(at) : Number.POSITIVE_INFINITY
    if (start + length > bytes.length) throw invalidKey('')
    at = start + length
    return bytes.subarray(start, at)
  }
  const [cipher, derivation, options] = [next(), next(), next()]
  if (derivation?.toString('latin1') !== 'bcrypt' || !cipher || !options) return undefined
  const saltLength = options.length >= 4 ? options.readUInt32BE(0) : Number.POSITIVE_INFINITY
  if (options.length !== 4 + saltLength + 4) throw invalidKey('')
  const rounds = options.readUInt32BE(4 + saltLength)
  const salt = options.subarray(4, 4 + saltLength)
  // OpenSSH has never put more than one key into a file.
  if (at + 4 > bytes.length || bytes.readUInt32BE(at) !== 1) throw invalidKey('')
  at += 4
  const [publicKey, content] = [next(), next()]
  return { cipher: cipher.toString('latin1'), salt, rounds, publicKey, content, proof: bytes.subarray(at) }
}

/** The same key without its passphrase. */
async function open(locked: LockedFile, passphrase: string, signal: AbortSignal): Promise<string> {
  signal.throwIfAborted()
  const late = AbortSignal.timeout(bounds.keyMs)
  try {
    const opened = await unlock(locked, passphrase, AbortSignal.any([signal, late]))
    if (!opened) throw invalidKey('encrypted')
    return openSsh(locked.publicKey, opened)
  } catch (error) {
    throw late.aborted && !signal.aborted ? tooSlow() : error
  }
}

const magic = Buffer.from('openssh-key-v1\0')

/** A file of OpenSSH without passphrase. */
function openSsh(publicKey: Buffer, content: Buffer): string {
  const count = Buffer.from([0, 0, 0, 1])
  const head = [magic, string('none'), string('none'), string(''), count]
  const whole = Buffer.concat([...head, string(publicKey), string(content)])
  return `-----BEGIN OPENSSH PRIVATE KEY-----\n${whole.toString('base64')}\n-----END OPENSSH PRIVATE KEY-----\n`
}

/** The library reads RSA and ECDSA in the form that it writes, but not Ed25519. */
function withoutPassphrase(pem: string): string {
  if (!pem.startsWith('-----BEGIN PRIVATE KEY-----')) return pem
  const { d = '', x = '' } = createPrivateKey(pem).export({ format: 'jwk' })
  const [secret, open] = [Buffer.from(d, 'base64url'), Buffer.from(x, 'base64url')]
  const type = string('ssh-ed25519')
  const key = Buffer.concat([Buffer.alloc(8), type, string(open), string(Buffer.concat([secret, open])), string('')])
  const padding = Buffer.from(Array.from({ length: (8 - (key.length % 8)) % 8 }, (_, at) => at + 1))
  return openSsh(Buffer.concat([type, string(open)]), Buffer.concat([key, padding]))
}

function string(content: string | Buffer): Buffer {
  const bytes = Buffer.from(content)
  const length = Buffer.alloc(4)
  length.writeUInt32BE(bytes.length)
  return Buffer.concat([length, bytes])
}

/** A number longer than the modulus makes signing take hours. */
function assertSize(pem: string): void {
  let key: KeyObject
  try {
    key = createPrivateKey(pem)
  } catch {
    throw invalidKey('')
  }
  const { modulusLength = 0 } = key.asymmetricKeyDetails ?? {}
  if (modulusLength > bounds.keyBits) throw tooLarge(modulusLength)
  if (key.asymmetricKeyType !== 'rsa') return
  const { n = '', ...parts } = key.export({ format: 'jwk' })
  const longest = Math.max(
    ...[parts.e, parts.d, parts.p, parts.q, parts.dp, parts.dq, parts.qi].map((part) => part?.length ?? 0),
  )
  if (longest > n.length) throw invalidKey('')
}

function invalidKey(why: string): ConnectorError {
  const advice = /encrypted|passphrase|integrity|decrypt/i.test(why)
    ? 'it is encrypted, and the passphrase does not open it.'
    : 'it should be an OpenSSH or PEM key, with its first and last line.'
  return invalid(`The private key cannot be read: ${advice}`)
}

const otherForm = (form: string): ConnectorError =>
  invalid(
    `The private key is in the form of ${form}, which is not read: convert it to that of OpenSSH, with ssh-keygen -p -f FILE or PuTTYgen.`,
  )

const tooManyRounds = (rounds: number): ConnectorError =>
  invalid(
    `The private key mixes its passphrase in ${rounds} rounds, and at most ${bounds.keyRounds} are done: encrypt it again with fewer, with ssh-keygen -p -a 24 -f FILE.`,
  )

const tooSlow = (): ConnectorError =>
  invalid(
    `Opening the private key takes longer than ${bounds.keyMs / 1000} seconds: encrypt it again with fewer rounds, with ssh-keygen -p -a 24 -f FILE.`,
  )

const tooLarge = (bits: number): ConnectorError =>
  invalid(`The private key has ${bits} bits, and at most ${bounds.keyBits} are used: sign in with a smaller one.`)

const invalid = (message: string): ConnectorError => new ConnectorError('invalid_credentials', message)
