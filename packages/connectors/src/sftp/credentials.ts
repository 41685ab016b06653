import { Outcome, type Values } from '@penstock/connector'
import ssh2, { type ConnectConfig } from 'ssh2'

/** How a user signs in, from a connector's values; throws `refused` where the key is none. */
export function signInOf(secrets: Values): ConnectConfig {
  const username = String(secrets.username)
  if (secrets.authentication === 'password') return { username, password: String(secrets.password), tryKeyboard: true }
  const { passphrase } = secrets
  const privateKey = normalised(String(secrets.sshPrivateKey))
  const given = passphrase === undefined ? {} : { passphrase: String(passphrase) }
  const parsed = ssh2.utils.parseKey(privateKey, given.passphrase)
  if (parsed instanceof Error || !parsed.isPrivateKey()) throw unfitKey(parsed instanceof Error ? parsed.message : '')
  return { username, privateKey, ...given }
}

/** Keys lose their line breaks on the way through forms: `\n` in letters, or the breaks of Windows. */
const normalised = (key: string): string => `${key.trim().replaceAll('\\n', '\n').replaceAll('\r\n', '\n')}\n`

function unfitKey(why: string): Outcome {
  const advice = /encrypted|passphrase|integrity|decrypt/i.test(why)
    ? 'it is encrypted, and the passphrase does not open it.'
    : 'it should be an OpenSSH or PEM key, with its first and last line.'
  return new Outcome('refused', 'invalid_private_key', `The private key cannot be read: ${advice}`)
}

/**
 * Judges the key of a host by fingerprints as `ssh-keygen -lf` prints them, any number of them. Without one, every key
 * will do.
 */
export function hostJudge(fingerprints: unknown, digest: (key: Uint8Array) => string): (key: Uint8Array) => boolean {
  if (typeof fingerprints !== 'string') return () => true
  const pinned = fingerprints
    .split(/[\s,]+/)
    .filter((each) => each !== '')
    .map((each) => each.replace(/^SHA256:/i, '').replace(/=+$/, ''))
  return (key) => pinned.includes(digest(key).replace(/=+$/, ''))
}
