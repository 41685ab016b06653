import { isIPv6 } from 'node:net'
import { RateLimiterMemory } from 'rate-limiter-flexible'
import { RequestsInMinute } from '../organizations/requests-in-minute.ts'
import { refuse } from '../refusal.ts'

/**
 * How many requests can fail within the window before more are refused: from one address for one name, from one address for all
 * names, and for one name from all addresses together. A name is the identifier of a client or the e-mail address of a person.
 */
export const failuresMax = { clientFromAddress: 10, address: 30, name: 30 } as const
const failureWindowSeconds = 60

/** The addresses from which someone proved before that the name is theirs: guesses from elsewhere do not lock these out. */
export type ProvenAddresses = () => Promise<readonly string[]>

/**
 * Counts failed requests, so that a secret cannot be guessed: by address and name together, by address, and by name. The
 * addresses of a 64-bit IPv6 network are treated as one. A request checks the counts before its secret is looked up and again
 * after the comparison, so concurrent guesses get no more answers than sequential guesses.
 */
export type Attempts = {
  /**
   * Refuses with `rate_limited` if too many failed.
   * @param proven limits the name as well, from all addresses but these
   */
  check(name: string, address: string, proven?: ProvenAddresses): Promise<void>
  /**
   * Counts a failure. Refuses with `rate_limited` if there are too many.
   * @param proven counts the failure for the name as well
   */
  failed(name: string, address: string, proven?: ProvenAddresses): Promise<void>
  /** Stores the address of a success, as one of the proven addresses of the name. */
  succeeded(name: string, address: string): void
}

const storedMax = 10_000

export function createAttempts(): Attempts {
  const pairs = new RateLimiterMemory({ points: failuresMax.clientFromAddress, duration: failureWindowSeconds })
  const addresses = new RateLimiterMemory({ points: failuresMax.address, duration: failureWindowSeconds })
  const names = new RateLimiterMemory({ points: failuresMax.name, duration: failureWindowSeconds })
  /** Names and networks that belong together, the oldest first. */
  const stored = new Set<string>()
  const isProven = async (name: string, network: string, proven: ProvenAddresses) =>
    stored.has(pairOf(name, network)) || (await proven()).some((address) => networkOf(address) === network)
  return {
    async check(name, address, proven) {
      const network = networkOf(address)
      for (const state of await Promise.all([pairs.get(pairOf(name, network)), addresses.get(network)])) {
        if (state && state.remainingPoints <= 0) refuse('rate_limited', [], retryAfterSeconds(state))
      }
      const byName = proven ? await names.get(name) : null
      if (proven && byName && byName.remainingPoints <= 0 && !(await isProven(name, network, proven)))
        refuse('rate_limited', [], retryAfterSeconds(byName))
    },
    async failed(name, address, proven) {
      const network = networkOf(address)
      const [byPair, byAddress] = await Promise.all([pairs.penalty(pairOf(name, network)), addresses.penalty(network)])
      if (byPair.consumedPoints > failuresMax.clientFromAddress) refuse('rate_limited', [], retryAfterSeconds(byPair))
      if (byAddress.consumedPoints > failuresMax.address) refuse('rate_limited', [], retryAfterSeconds(byAddress))
      if (!proven) return
      // Counted only now, so that one address cannot use up the failures that all addresses share.
      const byName = await names.penalty(name)
      if (byName.consumedPoints > failuresMax.name && !(await isProven(name, network, proven)))
        refuse('rate_limited', [], retryAfterSeconds(byName))
    },
    succeeded(name, address) {
      const pair = pairOf(name, networkOf(address))
      stored.delete(pair)
      stored.add(pair)
      const [oldest] = stored
      if (stored.size > storedMax && oldest !== undefined) stored.delete(oldest)
    },
  }
}

/** An address holds no space. */
const pairOf = (name: string, network: string) => `${network} ${name}`

/** Addresses that one attacker controls: the IPv4 address, or the first 64 bits of an IPv6 address. */
export function networkOf(address: string): string {
  const mapped = /^::ffff:([\d.]+)$/i.exec(address)?.[1]
  if (mapped !== undefined || !isIPv6(address)) return mapped ?? address
  const [head = '', tail] = address.split('::').map((part) => part.split(':').filter(Boolean))
  const omitted = tail ? 8 - head.length - tail.length : 0
  const groups = [...head, ...Array<string>(Math.max(0, omitted)).fill('0'), ...(tail ?? [])]
  return groups
    .slice(0, 4)
    .map((group) => Number.parseInt(group, 16).toString(16))
    .join(':')
}

/**
 * Counts a request of a client, and of its organization if that is known. Refuses with `rate_limited` if there are too many.
 */
export type RequestLimit = (clientId: string, organizationId?: string) => void

/** Limits the requests per minute of each client. 0 means no limit. */
export function createRequestLimit(requestsPerMinute: number): RequestLimit {
  if (requestsPerMinute === 0) return () => {}
  const requests = new RequestsInMinute()
  return (clientId) => requests.count(clientId, requestsPerMinute)
}

const retryAfterSeconds = ({ msBeforeNext }: { msBeforeNext: number }) => Math.max(1, Math.ceil(msBeforeNext / 1000))
