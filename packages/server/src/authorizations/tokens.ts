import { createHash, createHmac, hash, randomBytes } from 'node:crypto'

/** Tokens that browsers transport: 256 random bits each, stored as digests alone. */

/** A new random token. */
export const newToken = (): string => randomBytes(32).toString('base64url')

/** Whether a text could be such a token. */
export const isToken = (text: unknown): text is string => typeof text === 'string' && /^[\w-]{43}$/.test(text)

/** How a token is stored and found. */
export const digestOf = (token: string): Buffer => hash('sha256', token, 'buffer')

/**
 * The code verifier of PKCE. It follows from what the browser alone has, so that no process and no database keeps it.
 * @param browser the token of the browser's cookie
 */
export const verifierOf = (browser: string, state: string): string =>
  createHmac('sha256', browser).update(`code verifier ${state}`).digest('base64url')

/** Challenge that the platform compares with the verifier (RFC 7636, S256). */
export const challengeOf = (verifier: string): string => createHash('sha256').update(verifier).digest('base64url')
