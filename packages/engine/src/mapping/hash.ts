import { hash } from 'node:crypto'
import { type Digest, type DigestEncoding, digests } from '@penstock/wire/rules'

export { type Digest, type DigestEncoding, digests } from '@penstock/wire/rules'

/**
 * Digests of identifiers, in lower-case hexadecimal. The one-shot `hash` of Node was measured at 2.0 million short texts a
 * second, `createHash` at 0.7, SHA-256 written in JavaScript at 1.5 (one core, Node 24): no alternative is fast enough to justify
 * a second implementation.
 */

/** How many hexadecimal characters a digest has. */
export const digestLength: Readonly<Record<Digest, number>> = { sha256: 64, sha512: 128, md5: 32 }

/** The digest of a text in UTF-8. */
export const digestOf = (digest: Digest, text: string): string => hash(digest, text, 'hex')

/** A digest in hexadecimal, converted to the encoding of the destination. */
export const encodeDigest = (digest: string, encoding: DigestEncoding): string =>
  encoding === 'hex' ? digest : Buffer.from(digest, 'hex').toString('base64')

/** The digest in lower-case hexadecimal, if the text is one in Base64; otherwise `undefined`. */
export function readBase64Digest(text: string, accepted: readonly Digest[]): string | undefined {
  if (!/^[A-Za-z0-9+/]+={0,2}$/.test(text)) return undefined
  const bytes = Buffer.from(text, 'base64')
  return bytes.toString('base64') === text ? readDigest(bytes.toString('hex'), accepted) : undefined
}

const hexadecimal = /^[0-9a-fA-F]+$/

/** Suffix that Meta's own library for websites appends to its SHA-256 digests. It contains nothing about the person. */
const withSuffix = /^[0-9a-fA-F]{64}(?=\.[\w-]{2,8}$)/

/**
 * The digest in lower case, if the text is one, judged by its length and characters; otherwise `undefined`. The suffix of Meta's
 * library is removed.
 */
export function readDigest(text: string, accepted: readonly Digest[]): string | undefined {
  if (text[64] === '.' && accepted.includes('sha256')) return withSuffix.exec(text)?.[0].toLowerCase()
  for (const digest of accepted) {
    if (text.length === digestLength[digest] && hexadecimal.test(text)) return text.toLowerCase()
  }
  return undefined
}

/** Lengths in which digests come: of MD5, SHA-1, SHA-224, SHA-256, SHA-384 and SHA-512. */
const digestLengths = new Set([32, 40, 56, 64, 96, 128])

/** Whether a text looks like a digest of any kind. */
export const looksLikeDigest = (text: string): boolean => digestLengths.has(text.length) && hexadecimal.test(text)

const ofNothing = new Set(digests.map((digest) => digestOf(digest, '')))

/** Whether it is the digest of an empty text: somebody hashed a column with empty values, and this digest identifies no one. */
export const isDigestOfNothing = (digest: string): boolean => ofNothing.has(digest)

/**
 * Whether a text looks like a digest that a field does not accept. Hashing it again would make it unrecognisable.
 * @param anyText the field accepts identifiers of any form, in which 32 and 40 hexadecimal characters are common
 */
export const isForeignDigest = (text: string, anyText: boolean): boolean =>
  (anyText ? text.length > 40 : text.length >= 32) && looksLikeDigest(text)
