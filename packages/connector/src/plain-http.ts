import { isIP } from 'node:net'
import { fieldCounts } from '@penstock/wire/rules'
import { type AllowedDestination, makeMatches } from './egress/allowed.ts'
import type { Fields } from './fields.ts'
import type { Values } from './values.ts'

/** Where secrets can be sent over `http://`, which anyone on the network path can read. */
export type PlainHttp = {
  /** Whether plain HTTP to this machine is allowed. */
  readonly loopback: boolean
  /** To hosts that the operator names. A network matches only addresses, not host names that resolve to them. */
  readonly allow: readonly AllowedDestination[]
}

/** A setting with an address to which secrets must not be sent. */
export type InsecureAddress = { readonly key: string; readonly message: string }

/** Whether secrets can be sent to an address that begins with `http://`. */
export function isPlainHttpAllowed({ hostname, port }: URL, { loopback, allow }: PlainHttp): boolean {
  const host = hostname.replace(/^\[|\]$/g, '')
  return (loopback && isLoopback(host)) || makeMatches(allow)(isIP(host) === 0 ? '' : host, host, Number(port) || 80)
}

/**
 * The settings of a group whose address begins with `http://` although secrets are sent there: settings that bind a secret with a
 * value, and secrets that are addresses.
 * @param values the values that are set; for a secret, only its presence matters
 */
export function insecureAddresses(fields: Fields, values: Values, { loopback, allow }: PlainHttp): InsecureAddress[] {
  const isSet = (key: string) => Object.hasOwn(values, key) && fieldCounts(fields, key, values)
  return Object.entries(fields).flatMap(([key, { type, binds = [] }]) => {
    const value = isSet(key) ? values[key] : undefined
    if (typeof value !== 'string' || !(type === 'Password' || binds.some(isSet))) return []
    const url = /^\s*http:\/\//i.test(value) && URL.canParse(value.trim()) ? new URL(value.trim()) : undefined
    if (!url) return []
    if (isPlainHttpAllowed(url, { loopback, allow })) return []
    const message = `must begin with https://, because secrets are sent to ${url.host} and anyone on the network path could read them; an operator can name the host in PENSTOCK_ALLOW_HTTP`
    return [{ key, message }]
  })
}

const isLoopback = (host: string): boolean =>
  host === 'localhost' || host === '::1' || (isIP(host) === 4 && host.startsWith('127.'))
