import { compile as compileProxies } from '@fastify/proxy-addr'
import { limits } from '@penstock/wire'
import { splitAddress } from './db/addresses.ts'

/** Checks of the values of single settings. */

/** The text of a setting. */
export type Given = (name: string) => string | undefined
/** Reads a setting. `expected` completes a refusal that begins with the setting's name and “must be”. */
export type Read = <T>(name: string, fallback: T, parse: (value: string) => T | undefined, expected: string) => T

/** The words of a list with commas or spaces between them. */
export const words = (value: string | undefined): string[] => (value ? value.split(/[\s,]+/).filter(Boolean) : [])

/** An origin as browsers send it. `URL` does not parse origins with custom schemes, such as capacitor://localhost. */
export function isOrigin(text: string): boolean {
  if (/^https?:/i.test(text)) return URL.parse(text)?.origin === text
  return /^[a-z][a-z0-9+.-]*:\/\/[^/?#@]+$/.test(text)
}

/** An IP address, or a network such as 10.0.0.0/8. */
export function isNetwork(text: string): boolean {
  try {
    compileProxies(text)
    return true
  } catch {
    return false
  }
}

/**
 * An http or https address without query, fragment and user. The trailing slash is removed. Undefined if the value is not such
 * an address.
 */
export function webAddress(value: string): string | undefined {
  const url = URL.parse(value)
  const plain = url && /^https?:$/.test(url.protocol) && !url.search && !url.hash && !url.username
  return plain ? url.href.replace(/\/+$/, '') : undefined
}

/**
 * The address of a PostgreSQL server, or of several with commas between their hosts. Undefined if the value is not such an
 * address.
 */
export function postgresAddress(value: string): string | undefined {
  return /^postgres(ql)?:\/\//.test(value) && splitAddress(value).every((one) => URL.canParse(one)) ? value : undefined
}

/** A host name or an IPv4 address. */
export const hostName = /^(?=.{1,253}$)\w(?:[\w-]{0,61}\w)?(?:\.\w(?:[\w-]{0,61}\w)?)*\.?$/

/** Where callers of this machine reach the service, unless a setting says otherwise. */
export function defaultUrl(host: string | undefined, port: number | undefined): string {
  const name = host === '0.0.0.0' || host === '::' ? 'localhost' : host?.includes(':') ? `[${host}]` : host
  return `http://${name}:${port}`
}

/** A whole number within both bounds. Undefined if the value is out of bounds or not a whole number. */
export function between(value: string, min: number, max: number): number | undefined {
  const number = /^\d{1,10}$/.test(value) ? Number(value) : Number.NaN
  return number >= min && number <= max ? number : undefined
}

const clientSecretLengthMin = 16

/** The credentials of the first organization; both or neither. */
export function readFirstClient(
  id: string | undefined,
  secret: string | undefined,
  fieldErrors: string[],
): { id: string; secret: string } | undefined {
  if (!id && !secret) return undefined
  if (!id || !secret) {
    fieldErrors.push('PENSTOCK_CLIENT_ID and PENSTOCK_CLIENT_SECRET must be set together, or neither.')
    return undefined
  }
  if (!/^[\x21-\x7e]{1,200}$/.test(id))
    fieldErrors.push('PENSTOCK_CLIENT_ID must be 1 to 200 visible ASCII characters.')
  if (secret.length < clientSecretLengthMin || secret.length > limits.credentialLengthMax) {
    fieldErrors.push(
      `PENSTOCK_CLIENT_SECRET must have ${clientSecretLengthMin} to ${limits.credentialLengthMax} characters; random ones, such as from: openssl rand -base64 32`,
    )
  }
  return { id, secret }
}
