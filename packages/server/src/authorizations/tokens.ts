import { createHash, createHmac, hash, randomBytes } from 'node:crypto'

/** Tokens that browsers carry: 256 random bits each, stored only as digests. */

/** A new random token. */
export const newToken = (): string => randomBytes(32).toString('base64url')

/** Whether a text could be such a token. */
export const isToken = (text: unknown): text is string => typeof text === 'string' && /^[\w-]{43}$/.test(text)

/** How a token is stored and found. */
export const digestOf = (token: string): Buffer => hash('sha256', token, 'buffer')

/**
 * The code verifier of PKCE. It is derived from a value that only the browser has, so that no process and no database stores
 * it.
 * @param browser the token of the browser's cookie
 */
export const verifierOf = (browser: string, state: string): string =>
  createHmac('sha256', browser).update(`code verifier ${state}`).digest('base64url')

/** Challenge that the platform compares with the verifier (RFC 7636, S256). */
export const challengeOf = (verifier: string): string => createHash('sha256').update(verifier).digest('base64url')
