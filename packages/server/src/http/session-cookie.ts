import type { IncomingHttpHeaders } from 'node:http'
import { isCsrfToken } from '../csrf.ts'
import { refuse } from '../refusal.ts'
import { createCookie } from './cookies.ts'

/**
 * The cookie of a person's session. It is sent only to this service, scripts cannot read it, and forms of other sites do not
 * send it.
 */
export type SessionCookie = {
  /** The token of the session. Undefined if the request has no token. */
  read(headers: IncomingHttpHeaders): string | undefined
  /** The header that sets it. */
  set(session: { token: string; maxAgeSeconds: number }): string
  /** The header that removes it. */
  readonly removed: string
  /**
   * Whether a page of another origin sends the request. Pages that are allowed to use the API by CORS must not use the cookie.
   */
  isOfAnotherOrigin(headers: IncomingHttpHeaders): boolean
  /**
   * Refuses with `csrf_token_invalid` a request that can change something, unless it comes from a page of this service and
   * has the token of the session.
   */
  requireOwnPage(headers: IncomingHttpHeaders, token: string): void
}

/** @param publicUrl where callers reach the service */
export function createSessionCookie(publicUrl: string): SessionCookie {
  const { pathname, origin } = new URL(publicUrl)
  // Services below different paths of one host have separate sessions.
  const suffix = pathname.replace(/\/+$/, '').replaceAll(/\W+/g, '-')
  const cookie = createCookie(publicUrl, `penstock_session${suffix}`)

  /** Whether the browser reports that the request comes from another origin. Other programs report nothing. */
  const isFromElsewhere = (headers: IncomingHttpHeaders): boolean => {
    const site = headers['sec-fetch-site']
    if (site !== undefined) return site !== 'same-origin'
    return headers.origin !== undefined && headers.origin !== origin
  }
  return {
    read: cookie.read,
    set: ({ token, maxAgeSeconds }) => cookie.set(token, maxAgeSeconds),
    removed: cookie.removed,
    isOfAnotherOrigin: (headers) => headers.origin !== undefined && isFromElsewhere(headers),
    requireOwnPage: (headers, token) => {
      const given = headers['x-csrf-token']
      if (typeof given === 'string' && isCsrfToken(token, given) && !isFromElsewhere(headers)) return
      refuse('csrf_token_invalid')
    },
  }
}
