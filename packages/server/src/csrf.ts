import { createHmac, timingSafeEqual } from 'node:crypto'

/**
 * The token against cross-site request forgery. It follows from the token of the session, which only the cookie has, so
 * nothing more is stored, and it says nothing about the session's token.
 */
export const csrfTokenOf = (sessionToken: string): string =>
  createHmac('sha256', sessionToken).update('penstock csrf').digest('base64url')

/** Whether what the caller sent is the token of its session. */
export function isCsrfToken(sessionToken: string, given: string): boolean {
  const [right, sent] = [Buffer.from(csrfTokenOf(sessionToken)), Buffer.from(given)]
  return right.length === sent.length && timingSafeEqual(right, sent)
}
