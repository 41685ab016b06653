import { createCipheriv, createDecipheriv, createHash, createSecretKey, type KeyObject, randomBytes } from 'node:crypto'

/**
 * Sealing with AES-256-GCM (invariant 6). A sealed value is bound to its format and to where it belongs: moved elsewhere,
 * or taken for another format, it does not open.
 * Layout: 1 byte format · 12 bytes nonce · 16 bytes tag · ciphertext.
 */
export type MasterKey = { readonly id: string; readonly key: KeyObject }

/** What new values are sealed in. Values of format 1, whose format was not authenticated, still open; a rotation reseals them. */
const format = 2
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

/** What is authenticated with a value of a format; undefined for a format that is not known. */
function authenticated(format: number | undefined, place: SealedPlace): Buffer | undefined {
  const written = Buffer.from(JSON.stringify(place))
  if (format === 1) return written
  return format === 2 ? Buffer.concat([Buffer.of(2), written]) : undefined
}

/** Seals a value for a place. */
export function seal({ key }: MasterKey, place: SealedPlace, value: string | Buffer): Buffer {
  const nonce = randomBytes(nonceBytes)
  const cipher = createCipheriv('aes-256-gcm', key, nonce, { authTagLength: tagBytes })
  cipher.setAAD(authenticated(format, place) ?? Buffer.alloc(0))
  const sealed = Buffer.concat([cipher.update(value as string, 'utf8'), cipher.final()])
  return Buffer.concat([Buffer.of(format), nonce, cipher.getAuthTag(), sealed])
}

/** Opens a sealed value. Throws where key or place are not those it was sealed with, or a byte was changed. */
export function unseal({ key }: MasterKey, place: SealedPlace, sealed: Buffer): Buffer {
  const data = authenticated(sealed[0], place)
  if (!data || sealed.length < 1 + nonceBytes + tagBytes) throw new Error('This is not a sealed value')
  const decipher = createDecipheriv('aes-256-gcm', key, sealed.subarray(1, 1 + nonceBytes), { authTagLength: tagBytes })
  decipher.setAAD(data)
  decipher.setAuthTag(sealed.subarray(1 + nonceBytes, 1 + nonceBytes + tagBytes))
  try {
    return Buffer.concat([decipher.update(sealed.subarray(1 + nonceBytes + tagBytes)), decipher.final()])
  } catch {
    throw new Error('A sealed value does not open: it was altered, moved, or sealed under another master key')
  }
}
