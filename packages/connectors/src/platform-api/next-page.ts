import { ConnectorError } from '@penstock/connector'

/**
 * Cursors and addresses with which a platform leads from a page to the next one. If an answer names a next page that cannot be
 * requested, nobody knows where the list ends. That is an error, and never the end.
 */

/** Cursors are kept in checkpoints, which are bounded. */
const cursorMax = 4_000

/**
 * The cursor of the next page. `undefined` if the answer has no value or null there.
 * @param value the value in the answer
 * @param platform its name, for messages
 */
export function cursorIn(value: unknown, platform: string): string | undefined {
  if (value === undefined || value === null) return undefined
  if (typeof value !== 'string' || value === '') {
    throw unusableNext(platform, value === '' ? 'the cursor is empty' : 'the cursor is not a text')
  }
  if (value.length > cursorMax) throw unusableNext(platform, 'the cursor is too long')
  return value
}

/** The same for platforms that name no next page by an empty text, too. */
export const tokenIn = (value: unknown, platform: string): string | undefined =>
  cursorIn(value === '' ? undefined : value, platform)

/**
 * The address of the next page, which must be below a base. `undefined` if the answer has no value or null there.
 * @param value the value in the answer, which can be relative to the host of the base
 */
export function nextAddressIn(value: unknown, base: string, platform: string): URL | undefined {
  if (value === undefined || value === null) return undefined
  const below = new URL(base)
  const url = typeof value === 'string' && value !== '' ? URL.parse(value, below.origin) : null
  if (!url) throw unusableNext(platform, 'it is not an address')
  if (url.origin !== below.origin) throw unusableNext(platform, `it is at ${url.host} instead of ${below.host}`)
  if (url.pathname.startsWith(`${below.pathname.replace(/\/$/, '')}/`)) return url
  throw unusableNext(platform, `it is not below ${below.pathname}`)
}

/** The error of a next page that cannot be requested. */
export const unusableNext = (platform: string, why: string): ConnectorError =>
  new ConnectorError(
    'malformed_response',
    `${platform} returned a next page that cannot be used: ${why}. If this persists, report it with the name of the connector.`,
  )
