import { lookup } from 'node:dns'
import { isIP, type LookupFunction } from 'node:net'
import { ConnectorError } from '../connector-error.ts'
import { isAllowedName, kindOfAddress, type NetworkPolicy } from './addresses.ts'
import { type AllowedDestination, makeMatches } from './allowed.ts'

/** Returns the result of `dns.lookup` for a host, without forbidden addresses. */
export type LookUp = LookupFunction

/** Which addresses are allowed. */
export type AddressRules = {
  /**
   * A lookup for `net.connect` to this port. The socket connects to exactly the addresses that were checked here, so a name
   * that resolves differently shortly after has no effect. If the port is unknown, destinations that are allowed on only one
   * port are refused.
   */
  lookUp(port?: number): LookUp
  /**
   * Throws if a host is a forbidden IP address or name; a socket does not look up addresses.
   * @param host as in a URL: IPv6 in brackets
   */
  assertAllowedHost(host: string, port?: number): void
}

/** @param allow private destinations that are allowed although `networkPolicy` is `public` */
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
    `${host} is a private address, and this service connects only to public addresses (PENSTOCK_EGRESS). Use a public address, or ask the operator to name ${host} in PENSTOCK_EGRESS_ALLOW.`,
  )
