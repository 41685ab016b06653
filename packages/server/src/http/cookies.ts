import { hash } from 'node:crypto'
import type { IncomingHttpHeaders } from 'node:http'

/**
 * The cookies that the service sets. Scripts cannot read them. They are Lax, since links and other sites lead here. Over https
 * each has the prefix `__Host-`: browsers then accept it only from this host, so that a page of a sibling domain, or of plain
 * http, cannot set one. The prefix requires `Secure` and `Path=/`. `Secure` is not possible over plain http. There the names
 * have no prefix, for a service on the user's own machine.
 */

/** A cookie by its name. */
export type Cookie = {
  /** The value of the cookie. Undefined if the request does not have it. */
  read(headers: IncomingHttpHeaders): string | undefined
  /** The header that sets it. */
  set(value: string, maxAgeSeconds: number): string
  /** The header that removes it. */
  readonly removed: string
}

/**
 * @param publicUrl where callers reach the service
 * @param name without the prefix
 */
export function createCookie(publicUrl: string, name: string): Cookie {
  const isSecure = new URL(publicUrl).protocol === 'https:'
  const fullName = isSecure ? `__Host-${name}` : name
  const set = (value: string, maxAgeSeconds: number) =>
    `${fullName}=${value}; Max-Age=${maxAgeSeconds}; Path=/; HttpOnly; SameSite=Lax${isSecure ? '; Secure' : ''}`
  return {
    read: ({ cookie }) => pairsOf(cookie).find((pair) => pair.name === fullName)?.value,
    set,
    removed: set('', 0),
  }
}

/** The cookies that bind the answers of another site to the browser that went there: one for each state. */
export type StateCookies = {
  /** The value for a state. Undefined if the request has no such cookie, or the state is not a text. */
  read(headers: IncomingHttpHeaders, state: unknown): string | undefined
  /**
   * The headers that set the value for a new state. The oldest cookies of other states that the browser has are removed
   * if there are too many: a request must not grow with each attempt that was given up.
   */
  set(headers: IncomingHttpHeaders, state: string, value: string): string[]
  /** The headers that remove the cookie for a state. Empty if the request has no such cookie. */
  remove(headers: IncomingHttpHeaders, state: unknown): string[]
}

/** Of one kind in one browser: more than a person has open side by side. */
const statesMax = 8
/** Longer than a person can take at the other site, so that a late answer is reported as late. */
const stateSeconds = 3_600

/**
 * @param publicUrl where callers reach the service
 * @param name name of the kind, without the prefix; the name of each cookie ends with a digest of its state
 */
export function createStateCookies(publicUrl: string, name: string): StateCookies {
  const cookieOf = (state: string) => createCookie(publicUrl, `${name}-${hash('sha256', state).slice(0, 16)}`)
  const ofKind = new RegExp(`^(?:__Host-)?(${name}-[0-9a-f]{16})$`)
  return {
    read: (headers, state) => (typeof state === 'string' ? cookieOf(state).read(headers) : undefined),
    set: (headers, state, value) => {
      // Browsers send cookies of the same path in the order in which they were set.
      const others = pairsOf(headers.cookie).flatMap((pair) => ofKind.exec(pair.name)?.[1] ?? [])
      const removed = others.slice(0, Math.max(0, others.length + 1 - statesMax))
      return [...removed.map((name) => createCookie(publicUrl, name).removed), cookieOf(state).set(value, stateSeconds)]
    },
    remove: (headers, state) => {
      const cookie = typeof state === 'string' ? cookieOf(state) : undefined
      return cookie?.read(headers) === undefined ? [] : [cookie.removed]
    },
  }
}

const pairsOf = (header = ''): { name: string; value: string }[] =>
  header.split(';').map((pair) => {
    const at = pair.indexOf('=')
    return { name: pair.slice(0, Math.max(0, at)).trim(), value: pair.slice(at + 1).trim() }
  })
