import { createCipheriv, createDecipheriv, randomBytes } from 'node:crypto'
import { ConnectorError } from '@penstock/connector'
import { isObject, type JsonObject, parseJson } from '../platform-api/json.ts'

/** The encryption of requests and answers of UID2 and EUID (unifiedid.com, “Encrypting Requests and Decrypting Responses”). */

const [version, ivBytes, tagBytes, timeBytes, nonceBytes, keyBytes] = [1, 12, 16, 8, 8, 32]
const algorithm = 'aes-256-gcm'

/** An encrypted request, in Base64, and what its answer must repeat. */
export type SealedRequest = { readonly text: string; readonly nonce: Buffer }

/** The key in a client secret. Throws `invalid_credentials`. */
export function keyOf(clientSecret: unknown): Buffer {
  const key = Buffer.from(String(clientSecret ?? ''), 'base64')
  if (key.length === keyBytes) return key
  throw new ConnectorError(
    'invalid_credentials',
    `The client secret is not valid: expected ${keyBytes} bytes in Base64. Copy it again from the portal.`,
  )
}

/** @param nowMs the platform refuses requests that are older than a minute */
export function sealRequest(key: Buffer, content: JsonObject, nowMs: number): SealedRequest {
  const [iv, nonce, time] = [randomBytes(ivBytes), randomBytes(nonceBytes), Buffer.alloc(timeBytes)]
  time.writeBigInt64BE(BigInt(nowMs))
  const cipher = createCipheriv(algorithm, key, iv)
  const sealed = [cipher.update(Buffer.concat([time, nonce, Buffer.from(JSON.stringify(content))])), cipher.final()]
  return { text: Buffer.concat([Buffer.from([version]), iv, ...sealed, cipher.getAuthTag()]).toString('base64'), nonce }
}

/** Opens the answer to a request. Throws `malformed_response` if it is damaged, or answers another request. */
export function openAnswer(key: Buffer, { nonce }: SealedRequest, text: string): JsonObject {
  const bytes = Buffer.from(text.trim(), 'base64')
  const opened = decrypted(key, bytes)
  const content = opened?.subarray(timeBytes + nonceBytes).toString('utf8')
  const isOurs = opened?.subarray(timeBytes, timeBytes + nonceBytes).equals(nonce) ?? false
  const json = isOurs && content !== undefined ? parseJson(content) : undefined
  if (isObject(json)) return json
  throw new ConnectorError('malformed_response', 'The answer cannot be decrypted with the client secret.')
}

function decrypted(key: Buffer, bytes: Buffer): Buffer | undefined {
  if (bytes.length < ivBytes + tagBytes + timeBytes + nonceBytes) return undefined
  const decipher = createDecipheriv(algorithm, key, bytes.subarray(0, ivBytes))
  decipher.setAuthTag(bytes.subarray(-tagBytes))
  try {
    return Buffer.concat([decipher.update(bytes.subarray(ivBytes, -tagBytes)), decipher.final()])
  } catch {
    return undefined
  }
}
