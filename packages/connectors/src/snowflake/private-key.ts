import { createHash, createPrivateKey, createPublicKey, type KeyObject } from 'node:crypto'
import { ConnectorError } from '@penstock/connector'

/** A key pair, and the name by which Snowflake knows its public half. */
export type SnowflakeKeys = { readonly privateKey: KeyObject; readonly fingerprint: string }

/** A key whose passphrase is mixed more often would block the process for seconds. OpenSSL and Snowflake's manual use 2,048. */
const roundsMax = 5_000_000

/**
 * Reads a private key in PEM. Throws `invalid_credentials`.
 * @param passphrase decrypts it, if it is encrypted (PKCS #8 with PBKDF2)
 */
export function keysIn(pem: string, passphrase: string | undefined): SnowflakeKeys {
  // A PEM that was pasted into one line keeps its line breaks as \n.
  const text = pem.replaceAll('\\n', '\n').trim()
  const isEncrypted = /ENCRYPTED/.test(text.slice(0, 200))
  if (isEncrypted && passphrase === undefined) throw invalidKey('The private key needs its passphrase.')
  if (isEncrypted && !(roundsOf(text) <= roundsMax)) throw invalidKey('The encryption of the private key is not known.')
  let privateKey: KeyObject
  try {
    privateKey = createPrivateKey({ key: text, ...(isEncrypted && passphrase !== undefined && { passphrase }) })
  } catch {
    // The message of the library could quote the key.
    throw invalidKey(`The private key cannot be read${isEncrypted ? ' with this passphrase' : ''}.`)
  }
  if (privateKey.asymmetricKeyType !== 'rsa') throw invalidKey('The private key is not an RSA key.')
  const spki = createPublicKey(privateKey).export({ type: 'spki', format: 'der' })
  return { privateKey, fingerprint: `SHA256:${createHash('sha256').update(spki).digest('base64')}` }
}

/** The object identifier of PBKDF2 in DER (RFC 8018, appendix A.2), with the tag of its parameters. */
const pbkdf2 = Buffer.from('06092a864886f70d01050c30', 'hex')

/** The number of PBKDF2 rounds for the passphrase of an encrypted key. NaN if the key does not contain it. */
function roundsOf(pem: string): number {
  const [, base64 = ''] = /-----BEGIN ENCRYPTED PRIVATE KEY-----([^-]*)-----END/.exec(pem) ?? []
  const der = Buffer.from(base64, 'base64')
  const found = der.indexOf(pbkdf2)
  if (found < 0) return Number.NaN
  // The length of the parameters, then the salt, then the number.
  const salt = found + pbkdf2.length + 1
  const number = salt + 2 + (der[salt + 1] ?? 0)
  const length = der[number + 1] ?? 0
  if (der[salt] !== 4 || der[number] !== 2 || length < 1 || length > 5) return Number.NaN
  return der.subarray(number + 2, number + 2 + length).reduce((sum, byte) => sum * 256 + byte, 0)
}

const invalidKey = (message: string): ConnectorError =>
  new ConnectorError(
    'invalid_credentials',
    `${message} Paste the private key of the RSA key pair with its first and last line, and enter its passphrase if it has one.`,
  )
