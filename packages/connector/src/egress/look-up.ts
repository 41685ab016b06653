import { lookup } from 'node:dns'
import { isIP, type LookupFunction } from 'node:net'
import { asConnectorError, ConnectorError } from '../connector-error.ts'
import { isAllowedName, kindOfAddress, type NetworkPolicy } from './addresses.ts'
import { type AllowedDestination, makeMatches } from './allowed.ts'
import { egressBounds } from './bounds.ts'
import { connectorErrorOfError } from './errors.ts'

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
   * Throws if a host is a forbidden IP address or name, because a socket does not look up addresses.
   * @param host as in a URL: IPv6 in brackets
   */
  assertAllowedHost(host: string, port?: number): void
  /** Throws if a host is a link-local or metadata address or name, which nothing allows. */
  assertNotBarred(host: string): void
  /** An allowed address of a host. Throws a `ConnectorError` if the host has no allowed address. */
  resolve(host: string, port?: number): Promise<string>
  /**
   * The name or address that a bastion uses for a host. Behind a bastion with a public address is another network, in which only
   * link-local and metadata addresses are refused. A bastion with a private address is in the network of this service, so the
   * policy applies to the host too.
   * @param bastion the IP address of the bastion
   */
  behind(bastion: string, host: string, port: number): Promise<string>
}

/** @param allow private destinations that are allowed although `networkPolicy` is `public` */
export function makeAddressRules(
  networkPolicy: NetworkPolicy,
  allow: readonly AllowedDestination[] = [],
  lookUpMs: number = egressBounds.lookUpMs,
): AddressRules {
  const isAllowedPrivate = makeMatches(allow)
  const isAllowed = (address: string, host: string, port: number | undefined) => {
    const kind = kindOfAddress(address)
    if (kind !== 'private') return kind === 'public'
    return networkPolicy === 'any' || isAllowedPrivate(address, host, port)
  }
  const lookUp =
    (port?: number): LookUp =>
    (host, options, callback) => {
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
    }
  const assertAllowedHost = (host: string, port?: number): void => {
    const address = bare(host)
    if (isIP(address.replace(/%.*$/s, '')) === 0) {
      if (!isAllowedName(host)) throw barredHost(host)
    } else if (!isAllowed(address, address, port)) {
      throw kindOfAddress(address) === 'private' ? privateHost(host) : barredHost(host)
    }
  }
  const assertNotBarred = (host: string): void => {
    const address = bare(host)
    const isName = isIP(address.replace(/%.*$/s, '')) === 0
    if (isName ? !isAllowedName(address) : kindOfAddress(address) === 'never') throw barredHost(host)
  }
  const resolve = async (host: string, port?: number): Promise<string> => {
    assertAllowedHost(host, port)
    const address = bare(host)
    return isIP(address) ? address : await resolveName(lookUp(port), address, lookUpMs)
  }
  return {
    lookUp,
    assertAllowedHost,
    resolve,
    assertNotBarred,
    async behind(bastion, host, port) {
      assertNotBarred(host)
      const address = bare(host)
      if (kindOfAddress(bastion) === 'public') return address
      try {
        const checked = await resolve(host, port)
        return networkPolicy === 'any' ? address : checked
      } catch (error) {
        // Only the name servers of the bastion know the name.
        if (networkPolicy === 'any' && asConnectorError(error)?.code === 'host_not_found') return address
        throw error
      }
    },
  }
}

function resolveName(lookUp: LookUp, host: string, lookUpMs: number): Promise<string> {
  return new Promise((resolve, reject) => {
    const message = `The name ${host} was not found within ${lookUpMs / 1000} seconds. Check the name servers.`
    const timer = setTimeout(() => reject(new ConnectorError('host_not_found', message)), lookUpMs)
    lookUp(host, {}, (error, address) => {
      clearTimeout(timer)
      if (error) reject(connectorErrorOfError(error, host))
      else resolve(String(address))
    })
  })
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
