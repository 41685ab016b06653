import { createHash, createHmac, pbkdf2, randomBytes, timingSafeEqual } from 'node:crypto'
import { promisify } from 'node:util'
import { ConnectorError } from '@penstock/connector'

/** SCRAM (RFC 5802) without channel binding, as Kafka has it. */

const derive = promisify(pbkdf2)

/** A server could keep this process busy with more. */
const iterationsMax = 1_000_000

/**
 * Signs in.
 * @param exchange sends a message and resolves with the answer
 * Throws `invalid_credentials` if the server does not know the password, and `unexpected_response` for an invalid message.
 */
export async function signInByScram(
  mechanism: 'SCRAM-SHA-256' | 'SCRAM-SHA-512',
  user: string,
  password: string,
  exchange: (message: Buffer) => Promise<Buffer>,
): Promise<void> {
  const hash = mechanism === 'SCRAM-SHA-256' ? 'sha256' : 'sha512'
  const size = hash === 'sha256' ? 32 : 64
  const nonce = randomBytes(24).toString('base64url')
  const bare = `n=${user.replaceAll('=', '=3D').replaceAll(',', '=2C')},r=${nonce}`
  const first = String(await exchange(Buffer.from(`n,,${bare}`)))
  const { r: both = '', s: salt = '', i = '' } = partsOf(first)
  const iterations = Number(i)
  if (!both.startsWith(nonce) || both === nonce || salt === '' || !(iterations >= 1) || iterations > iterationsMax) {
    throw strange()
  }
  const salted = await derive(password, Buffer.from(salt, 'base64'), iterations, size, hash)
  const hmac = (key: Uint8Array, text: string): Buffer => createHmac(hash, key).update(text).digest()
  const clientKey = hmac(salted, 'Client Key')
  const withoutProof = `c=biws,r=${both}`
  const signed = `${bare},${first},${withoutProof}`
  const signature = hmac(createHash(hash).update(clientKey).digest(), signed)
  const proof = clientKey.map((byte, index) => byte ^ (signature[index] as number))
  const last = String(await exchange(Buffer.from(`${withoutProof},p=${Buffer.from(proof).toString('base64')}`)))
  const { v = '' } = partsOf(last)
  const expected = hmac(hmac(salted, 'Server Key'), signed)
  const given = Buffer.from(v, 'base64')
  // Only a server that knows the password can sign this.
  if (given.length !== expected.length || !timingSafeEqual(given, expected)) throw strange()
}

const partsOf = (message: string): Record<string, string> =>
  Object.fromEntries(message.split(',').map((part) => [part.slice(0, 1), part.slice(2)]))

const strange = (): ConnectorError =>
  new ConnectorError('unexpected_response', 'The broker sent an invalid message of SCRAM. Check the brokers.')
