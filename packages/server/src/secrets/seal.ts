import { createCipheriv, createDecipheriv, createHash, createSecretKey, type KeyObject, randomBytes } from 'node:crypto'
import { Refusal } from '../refusal.ts'

/**
 * Sealing with AES-256-GCM (invariant 6). A sealed value is bound to its format and its place. It cannot be opened at
 * another place or as another format. Layout: 1 byte format · 12 bytes nonce · 16 bytes tag · ciphertext.
 */
export type MasterKey = { readonly id: string; readonly key: KeyObject }

/** The first byte of a sealed value, which is authenticated with it. */
const format = 1
const nonceBytes = 12
const tagBytes = 16
const keyBytes = 32

/** A master key from its 32 bytes. Its identifier distinguishes keys and reveals nothing about them. */
export function masterKey(bytes: Buffer): MasterKey {
  const id = createHash('sha256').update('penstock master key').update(bytes).digest('hex').slice(0, 16)
  return { id, key: createSecretKey(bytes) }
}

/** A new random master key in the form in which settings and the key file hold it. */
export const generateMasterKey = (): string => randomBytes(keyBytes).toString('base64')

/** Reads a master key: 32 bytes in base64 (either alphabet) or 64 hexadecimal digits. Anything else is undefined. */
export function parseMasterKey(text: string): MasterKey | undefined {
  const trimmed = text.trim()
  const bytes = /^[0-9a-f]{64}$/i.test(trimmed)
    ? Buffer.from(trimmed, 'hex')
    : /^[A-Za-z0-9+/_-]{43}=?$/.test(trimmed)
      ? Buffer.from(trimmed, 'base64')
      : undefined
  return bytes?.length === keyBytes ? masterKey(bytes) : undefined
}

/** Where a value belongs; authenticated with it. */
export type SealedPlace = readonly string[]

const authenticated = (place: SealedPlace) => Buffer.concat([Buffer.of(format), Buffer.from(JSON.stringify(place))])

/** Seals a value for a place. */
export function seal({ key }: MasterKey, place: SealedPlace, value: string | Buffer): Buffer {
  const nonce = randomBytes(nonceBytes)
  const cipher = createCipheriv('aes-256-gcm', key, nonce, { authTagLength: tagBytes })
  cipher.setAAD(authenticated(place))
  const sealed = Buffer.concat([cipher.update(value as string, 'utf8'), cipher.final()])
  return Buffer.concat([Buffer.of(format), nonce, cipher.getAuthTag(), sealed])
}

/** A sealed value that cannot be opened: a refusal, since what is stored is wrong, and not this service. */
export class Unreadable extends Refusal {
  /** @param message what is wrong, for the operator */
  constructor(message: string) {
    super('stored_value_unreadable', [])
    this.message = message
  }
}

/**
 * Opens a sealed value.
 * @throws Unreadable where key or place are not those it was sealed with, or a byte was changed
 */
export function unseal({ key }: MasterKey, place: SealedPlace, sealed: Buffer): Buffer {
  if (sealed[0] !== format || sealed.length < 1 + nonceBytes + tagBytes) {
    throw new Unreadable('This is not a sealed value')
  }
  const decipher = createDecipheriv('aes-256-gcm', key, sealed.subarray(1, 1 + nonceBytes), { authTagLength: tagBytes })
  decipher.setAAD(authenticated(place))
  decipher.setAuthTag(sealed.subarray(1 + nonceBytes, 1 + nonceBytes + tagBytes))
  try {
    return Buffer.concat([decipher.update(sealed.subarray(1 + nonceBytes + tagBytes)), decipher.final()])
  } catch {
    throw new Unreadable('A sealed value does not open: it was altered, moved, or sealed under another master key')
  }
}

/**
 * Opens a sealed value that is JSON.
 * @throws Unreadable if it cannot be opened, is not JSON, or is nested too deeply to be serialized again
 */
export function unsealJson(key: MasterKey, place: SealedPlace, sealed: Buffer): unknown {
  const text = unseal(key, place, sealed).toString('utf8')
  try {
    const value: unknown = JSON.parse(text)
    JSON.stringify(value)
    return value
  } catch {
    throw new Unreadable('A sealed value is no JSON, or too deep')
  }
}
