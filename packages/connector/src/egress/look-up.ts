import { lookup } from 'node:dns'
import { isIP, type LookupFunction } from 'node:net'
import { Outcome } from '../outcome.ts'
import { isAllowedAddress, isAllowedName, type Reach } from './addresses.ts'

/** Answers for a host what `dns.lookup` would, without the addresses that must not be reached. */
export type LookUp = LookupFunction

/**
 * Makes a lookup for `net.connect`. Because the socket connects to the very addresses that were checked here, a name
 * that resolves differently a moment later gains nothing.
 */
export const makeLookUp =
  (reach: Reach): LookUp =>
  (host, options, callback) => {
    if (!isAllowedName(host)) return callback(barredHost(host), [])
    lookup(host, { ...options, all: true }, (error, found) => {
      if (error) return callback(error, [])
      const allowed = found.filter(({ address }) => isAllowedAddress(address, reach))
      const [first] = allowed
      if (!first) return callback(barredHost(host), [])
      if (options.all) callback(null, allowed)
      else callback(null, first.address, first.family)
    })
  }

/**
 * Throws where a host is an IP address, or a name, that must not be reached; a socket does not look addresses up.
 * @param host as a URL has it: IPv6 in brackets
 */
export function assertAllowedHost(host: string, reach: Reach): void {
  const address = bare(host)
  if (isIP(address.replace(/%.*$/s, '')) === 0 ? !isAllowedName(host) : !isAllowedAddress(address, reach)) {
    throw barredHost(host)
  }
}

/** A host without the brackets of an IPv6 address. */
export const bare = (host: string): string => host.replace(/^\[(.*)\]$/s, '$1')

const barredHost = (host: string): Outcome =>
  new Outcome(
    'refused',
    'address_not_allowed',
    `The address ${host} leads to a network that this service must not reach; use another address, or ask the operator.`,
  )
