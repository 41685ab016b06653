import { isIPv4 } from 'node:net'
import type { NetworkPolicy } from '@penstock/connector/egress'
import { type AllowedDestination, parseAllowed } from '@penstock/connector/egress/allowed'
import { describeProxy, type OutgoingProxy, parseProxy } from '@penstock/connector/egress/proxy-address'
import { type Given, type Read, words } from './config-values.ts'

/** The settings that decide where connectors can connect to. */

/** Network policy of connectors. */
export type EgressSettings = {
  /** Any address but link-local and metadata ones, or public ones only. */
  readonly networkPolicy: NetworkPolicy
  /** Private destinations that connectors can connect to even if `networkPolicy` is `public`. */
  readonly allow: readonly AllowedDestination[]
  /** The proxy through which everything goes, and the destinations that are reached without it. */
  readonly proxy: OutgoingProxy | undefined
  readonly except: readonly AllowedDestination[]
  /** Why it is so: part of a sentence, for the operator. */
  readonly reason: string
}

/**
 * Which addresses connectors may connect to depends on who can reach the API. If only the loopback address reaches the API, its
 * callers are users of this machine, who can connect to their own database. Anyone else could use connectors to explore the
 * private network.
 */
export function readEgress(given: Given, read: Read, listens: boolean): EgressSettings {
  const networkPolicy = read<NetworkPolicy | undefined>(
    'PENSTOCK_EGRESS',
    undefined,
    (value) => (value === 'any' || value === 'public' ? value : undefined),
    'any or public',
  )
  const rest = {
    allow: readDestinations(read, 'PENSTOCK_EGRESS_ALLOW'),
    proxy: read<OutgoingProxy | undefined>(
      'PENSTOCK_OUTGOING_PROXY',
      undefined,
      parseProxy,
      'the address of a proxy without a path, such as http://user:password@proxy.internal:3128 or socks5://proxy.internal:1080',
    ),
    except: readDestinations(read, 'PENSTOCK_OUTGOING_PROXY_EXCEPT'),
  }
  if (networkPolicy) return { networkPolicy, ...rest, reason: 'PENSTOCK_EGRESS is set' }
  if (!listens) return { networkPolicy: 'public', ...rest, reason: 'a worker does not know who has access to the API' }
  const reason = exposureOf(given)
  return reason === undefined
    ? { networkPolicy: 'any', ...rest, reason: `the service listens only on ${given('PENSTOCK_HOST') ?? '127.0.0.1'}` }
    : { networkPolicy: 'public', ...rest, reason }
}

/** Why others than the user of this machine can reach the API, as a part of a sentence. Undefined if they cannot. */
export function exposureOf(given: Given): string | undefined {
  const exposure = ['PENSTOCK_PUBLIC_URL', 'PENSTOCK_TRUSTED_PROXIES'].find((name) => given(name))
  if (exposure) return `${exposure} is set`
  const host = given('PENSTOCK_HOST') ?? '127.0.0.1'
  const isLoopback = host === 'localhost' || host === '::1' || (isIPv4(host) && host.startsWith('127.'))
  return isLoopback ? undefined : 'PENSTOCK_HOST is not a loopback address'
}

/** The settings as an egress accepts them. */
export const egressOptions = ({ networkPolicy, allow, proxy, except }: EgressSettings) => ({
  networkPolicy,
  allow,
  except,
  ...(proxy && { proxy }),
})

/** Reads destinations that the operator allows something for. */
export const readDestinations = (read: Read, setting: string): readonly AllowedDestination[] =>
  read<readonly AllowedDestination[]>(
    setting,
    [],
    (value) => {
      const parsed = words(value).map(parseAllowed)
      return parsed.every((one) => one !== undefined) ? parsed : undefined
    },
    'host names, addresses or networks, separated by commas, each with an optional port, such as db.internal:5432, 10.1.0.0/16, [fd12::7]:5432; link-local and metadata addresses are never allowed',
  )

/** The network policy of connectors and its reason, as a sentence for the operator. */
export function describeEgress({ networkPolicy, allow, proxy, except, reason }: EgressSettings): string {
  const without = except.length === 0 ? '' : `, except to ${except.map(({ text }) => text).join(', ')}`
  const way = proxy ? ` They connect through the proxy ${describeProxy(proxy)}${without}.` : ''
  if (networkPolicy === 'any') return `Connectors may connect to private addresses, because ${reason}.${way}`
  const besides =
    allow.length === 0 ? '' : ` and to ${allow.map(({ text }) => text).join(', ')} (PENSTOCK_EGRESS_ALLOW)`
  return `Connectors may connect to public addresses only${besides}, because ${reason}.${way}`
}
