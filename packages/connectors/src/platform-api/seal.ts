import { createCipheriv, createDecipheriv, hkdfSync, randomBytes } from 'node:crypto'
import type { Json } from '@penstock/connector'
import { parseJson } from './json.ts'

/**
 * Seals a value for a delivery state so that only the connector's credentials can open it, because personal data must not be
 * readable next to a transfer.
 * @param secret a secret of the connector, of any length
 */
export function seal(value: Json, secret: string, transferId: string): string {
  const iv = randomBytes(12)
  const cipher = createCipheriv('aes-256-gcm', keyOf(secret, transferId), iv)
  const sealed = Buffer.concat([cipher.update(JSON.stringify(value), 'utf8'), cipher.final()])
  return Buffer.concat([iv, cipher.getAuthTag(), sealed]).toString('base64')
}

/** The sealed value. `undefined` if it was sealed with another secret, or if the text is not a sealed value. */
export function unseal(sealed: string, secret: string, transferId: string): unknown {
  const bytes = Buffer.from(sealed, 'base64')
  if (bytes.length < 28) return undefined
  try {
    const decipher = createDecipheriv('aes-256-gcm', keyOf(secret, transferId), bytes.subarray(0, 12))
    decipher.setAuthTag(bytes.subarray(12, 28))
    return parseJson(Buffer.concat([decipher.update(bytes.subarray(28)), decipher.final()]).toString('utf8'))
  } catch {
    return undefined
  }
}

const keyOf = (secret: string, transferId: string): Uint8Array =>
  new Uint8Array(hkdfSync('sha256', secret, transferId, 'penstock receipt', 32))
