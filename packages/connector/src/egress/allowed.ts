import { BlockList, isIP } from 'node:net'
import { isAllowedName, kindOfAddress, plainName } from './addresses.ts'

/**
 * A private destination that the operator allows although only public addresses are allowed: a host name with all its addresses,
 * or a network; on every port, or on one port. It is plain data that can be sent to another process. It never allows a link-local
 * or metadata address.
 */
export type AllowedDestination = {
  /** As the operator wrote it. */
  readonly text: string
  /** In lower case, without a dot at its end. */
  readonly name?: string
  readonly network?: { readonly address: string; readonly bits: number }
  readonly port?: number
}

/**
 * Reads `db.internal`, `10.0.0.7`, `10.1.0.0/16`, `fd12::7`, each optionally with a colon and a single port:
 * `db.internal:5432`, `10.1.0.0/16:5432`, `[fd12::7]:5432`, `[fd12::/64]:5432`.
 * @returns undefined for anything else, and for link-local and metadata addresses, which are never allowed
 */
export function parseAllowed(text: string): AllowedDestination | undefined {
  const bracketed = /^\[([^\]]+)\](?::(\d{1,5}))?$/.exec(text)
  const plain =
    isIP(text.replace(/\/\d+$/, '')) === 6 ? [text, text, undefined] : /^([^:[\]]+)(?::(\d{1,5}))?$/.exec(text)
  const [, host, digits] = bracketed ?? plain ?? []
  if (host === undefined || (bracketed && isIP(host.replace(/\/\d+$/, '')) !== 6)) return undefined
  const port = digits === undefined ? undefined : Number(digits)
  if (port !== undefined && (port < 1 || port > 65_535)) return undefined
  const destination = parseNetwork(host) ?? parseName(host)
  return destination && { text, ...destination, ...(port === undefined ? {} : { port }) }
}

function parseNetwork(text: string): Omit<AllowedDestination, 'text'> | undefined {
  const [, address = '', given] = /^([^/]+?)(?:\/(\d{1,3}))?$/.exec(text) ?? []
  const longest = { 0: 0, 4: 32, 6: 128 }[isIP(address)] ?? 0
  const bits = given === undefined ? longest : Number(given)
  if (longest === 0 || address.includes('%') || bits > longest || kindOfAddress(address) === 'never') return undefined
  return { network: { address, bits } }
}

/** Only digits and dots are a mistyped address. */
function parseName(text: string): Omit<AllowedDestination, 'text'> | undefined {
  const name = plainName(text)
  const isName = /^(?=.*[a-z])[a-z0-9_]([a-z0-9_-]*[a-z0-9_])?(\.[a-z0-9_]([a-z0-9_-]*[a-z0-9_])?)*$/.test(name)
  return isName && name.length <= 253 && isAllowedName(name) ? { name } : undefined
}

/** Whether an address or its host name is among the destinations. The address is `''` if it is not known. */
export type Matches = (address: string, host: string, port: number | undefined) => boolean

/** Creates the function from the list. A destination with a port does not match if the port is unknown. */
export function makeMatches(allowed: readonly AllowedDestination[]): Matches {
  const entries = allowed.map(({ name, network, port }) => {
    const list = new BlockList()
    if (network) list.addSubnet(network.address, network.bits, isIP(network.address) === 4 ? 'ipv4' : 'ipv6')
    return { name, list, port }
  })
  return (address, host, port) => {
    const [name, plain] = [plainName(host), address.replace(/%.*$/s, '')]
    const version = isIP(plain)
    const family = version === 4 ? 'ipv4' : 'ipv6'
    return entries.some(
      (entry) =>
        (entry.port === undefined || entry.port === port) &&
        (entry.name === name || (version !== 0 && entry.list.check(plain, family))),
    )
  }
}
