import { lookup } from 'node:dns'
import { isIP, type LookupFunction } from 'node:net'
import { ConnectorError } from '../connector-error.ts'
import { isAllowedName, kindOfAddress, type NetworkPolicy } from './addresses.ts'
import { type AllowedDestination, makeMatches } from './allowed.ts'

/** Answers for a host what `dns.lookup` would, without the addresses that must not be reached. */
export type LookUp = LookupFunction

/** Which addresses may be connected to. */
export type AddressRules = {
  /**
   * A lookup for `net.connect` to this port. Because the socket connects to the very addresses that were checked here, a
   * name that resolves differently shortly after gains nothing. Where the port is unknown, destinations that are allowed
   * on one port alone are not.
   */
  lookUp(port?: number): LookUp
  /**
   * Throws where a host is an IP address, or a name, that must not be reached; a socket does not look addresses up.
   * @param host as a URL has it: IPv6 in brackets
   */
  assertAllowedHost(host: string, port?: number): void
}

/**
 * @param allow private destinations that may be connected to although `networkPolicy` is `public`
 */
export function makeAddressRules(
  networkPolicy: NetworkPolicy,
  allow: readonly AllowedDestination[] = [],
): AddressRules {
  const isAllowedPrivate = makeMatches(allow)
  const isAllowed = (address: string, host: string, port: number | undefined) => {
    const kind = kindOfAddress(address)
    if (kind !== 'private') return kind === 'public'
    return networkPolicy === 'any' || isAllowedPrivate(address, host, port)
  }
  return {
    lookUp: (port) => (host, options, callback) => {
      if (!isAllowedName(host)) return callback(barredHost(host), [])
      lookup(host, { ...options, all: true }, (error, found) => {
        if (error) return callback(error, [])
        const allowed = found.filter(({ address }) => isAllowed(address, host, port))
        const [first] = allowed
        if (!first) {
          const isPrivate = found.some(({ address }) => kindOfAddress(address) === 'private')
          return callback(isPrivate ? privateHost(host) : barredHost(host), [])
        }
        if (options.all) callback(null, allowed)
        else callback(null, first.address, first.family)
      })
    },

    assertAllowedHost(host, port) {
      const address = bare(host)
      if (isIP(address.replace(/%.*$/s, '')) === 0) {
        if (!isAllowedName(host)) throw barredHost(host)
      } else if (!isAllowed(address, address, port)) {
        throw kindOfAddress(address) === 'private' ? privateHost(host) : barredHost(host)
      }
    },
  }
}

/** A host without the brackets of an IPv6 address. */
export const bare = (host: string): string => host.replace(/^\[(.*)\]$/s, '$1')

const barredHost = (host: string): ConnectorError =>
  new ConnectorError(
    'address_not_allowed',
    `${host} is a link-local or metadata address, which this service never connects to. Use another address.`,
  )

const privateHost = (host: string): ConnectorError =>
  new ConnectorError(
    'address_not_allowed',
    `${host} is a private address, and this service connects to public ones only (PENSTOCK_EGRESS). Use a public address, or ask the operator to name ${host} in PENSTOCK_EGRESS_ALLOW.`,
  )
