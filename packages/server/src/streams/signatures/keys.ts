import { createHash, createHmac, createPublicKey, type KeyObject, timingSafeEqual, verify } from 'node:crypto'
import type { SchemeFacts } from '@penstock/connectors'
import type { SignedText } from './signed-text.ts'

/** A secret, ready to check signatures with. */
export type VerificationKey = Buffer | KeyObject

/** The forms of encoded secrets, for people. */
const forms: Readonly<Record<NonNullable<SchemeFacts['secretEncoding']>, string>> = {
  hex: 'hexadecimal digits',
  whsec: '`whsec_` and a Base64 key',
  spki: 'a public key of the curve P-256, in Base64',
  'ed25519-hex': '64 hexadecimal digits',
  'ed25519-whpk': '`whpk_` and a Base64 key',
}

/** Why a secret is not valid for a scheme. `undefined` if it is valid. The text does not contain the secret. */
export function secretProblem(facts: SchemeFacts, secret: string): string | undefined {
  if (keyOf(facts, secret) !== undefined) return undefined
  const { label, secretEncoding } = facts
  if (secretEncoding === undefined) return `${label} requires a secret.`
  return `The secret is not valid for ${label}. Expected ${forms[secretEncoding]}.`
}

/** The key in a secret, or `undefined` if the secret has another form. */
export function keyOf({ secretEncoding }: SchemeFacts, secret: string): VerificationKey | undefined {
  const text = secret.trim()
  switch (secretEncoding) {
    case undefined:
      return text === '' ? undefined : Buffer.from(text)
    case 'hex':
      return /^(?:[0-9a-f]{2})+$/i.test(text) ? Buffer.from(text, 'hex') : undefined
    case 'whsec':
      return base64After('whsec_', text)
    case 'spki':
      return publicKey({ key: Buffer.from(text, 'base64'), format: 'der', type: 'spki' }, 'ec')
    case 'ed25519-hex':
      return ed25519Key(/^[0-9a-f]{64}$/i.test(text) ? Buffer.from(text, 'hex') : undefined)
    case 'ed25519-whpk':
      return ed25519Key(base64After('whpk_', text))
  }
}

/** The key after the prefix, which some senders omit. */
function base64After(prefix: string, text: string): Buffer | undefined {
  const encoded = text.startsWith(prefix) ? text.slice(prefix.length) : text
  return /^[A-Za-z0-9+/_-]+={0,2}$/.test(encoded) ? Buffer.from(encoded, 'base64') : undefined
}

function ed25519Key(bytes: Buffer | undefined): KeyObject | undefined {
  if (bytes?.length !== 32) return undefined
  return publicKey({ key: { kty: 'OKP', crv: 'Ed25519', x: bytes.toString('base64url') }, format: 'jwk' }, 'ed25519')
}

function publicKey(given: Parameters<typeof createPublicKey>[0], type: 'ec' | 'ed25519'): KeyObject | undefined {
  try {
    const key = createPublicKey(given)
    return key.asymmetricKeyType === type ? key : undefined
  } catch {
    return undefined
  }
}

/** Whether one of the signatures is of one of the texts, by one of the keys. Comparisons take constant time. */
export function isSignedBy(
  { algorithms = ['hmac-sha256'] }: SchemeFacts,
  keys: readonly VerificationKey[],
  texts: readonly SignedText[],
  signatures: readonly Buffer[],
): boolean {
  return algorithms.some((algorithm) =>
    keys.some((key) => texts.some((text) => isSignedAs(algorithm, key, text, signatures))),
  )
}

function isSignedAs(
  algorithm: NonNullable<SchemeFacts['algorithms']>[number],
  key: VerificationKey,
  text: SignedText,
  signatures: readonly Buffer[],
): boolean {
  if (!Buffer.isBuffer(key)) {
    const digest = algorithm === 'ecdsa-p256' ? 'sha256' : undefined
    const signed = Buffer.concat(text.map((part) => (typeof part === 'string' ? Buffer.from(part) : part)))
    return signatures.some((signature) => verifies(digest, signed, key, signature))
  }
  if (algorithm === 'equal') return signatures.some((signature) => isEqual(digestOf([key]), digestOf([signature])))
  // A digest of another length cannot match, so it is not computed.
  if (!signatures.some(({ length }) => length === (algorithm === 'hmac-sha1' ? 20 : 32))) return false
  const expected = algorithm === 'sha256' ? digestOf([key, ...text]) : hmacOf(algorithm, key, text)
  return signatures.some((signature) => isEqual(expected, signature))
}

const isEqual = (one: Buffer, other: Buffer) => one.length === other.length && timingSafeEqual(one, other)

function digestOf(text: SignedText): Buffer {
  const hash = createHash('sha256')
  for (const part of text) hash.update(part)
  return hash.digest()
}

function hmacOf(algorithm: string, key: Buffer, text: SignedText): Buffer {
  const hmac = createHmac(algorithm === 'hmac-sha1' ? 'sha1' : 'sha256', key)
  for (const part of text) hmac.update(part)
  return hmac.digest()
}

/** Node can throw for a signature that is not valid DER. */
function verifies(digest: string | undefined, signed: Buffer, key: KeyObject, signature: Buffer): boolean {
  try {
    return verify(digest, signed, key, signature)
  } catch {
    return false
  }
}
