import { isIPv6 } from 'node:net'
import { RateLimiterMemory } from 'rate-limiter-flexible'
import { refuse } from '../refusal.ts'

/**
 * How many token requests may fail within the window, from one address for one client and for all clients together, before
 * more are refused. Nothing is counted for a client alone, so that guesses from elsewhere cannot lock it out.
 */
export const failuresMax = { clientFromAddress: 10, address: 30 } as const
export const failureWindowSeconds = 60

/**
 * Counts failed token requests, so that a secret cannot be guessed: by address and client together, and by address. The
 * addresses of an IPv6 network of 64 bits count as one.
 * A request asks before its secret is looked up and again once it is judged: of guesses that come all at once,
 * no more are answered than of guesses that come one by one.
 */
export type Attempts = {
  /** Refuses with `rate_limited` where too many failed. */
  check(clientId: string, address: string): Promise<void>
  /** Counts a failure; refuses with `rate_limited` if it is one too many. */
  failed(clientId: string, address: string): Promise<void>
}

export function createAttempts(): Attempts {
  const pairs = new RateLimiterMemory({ points: failuresMax.clientFromAddress, duration: failureWindowSeconds })
  const addresses = new RateLimiterMemory({ points: failuresMax.address, duration: failureWindowSeconds })
  return {
    async check(clientId, address) {
      const network = networkOf(address)
      for (const state of await Promise.all([pairs.get(pairOf(clientId, network)), addresses.get(network)])) {
        if (state && state.remainingPoints <= 0) refuse('rate_limited', [], retryAfterSeconds(state))
      }
    },
    async failed(clientId, address) {
      const network = networkOf(address)
      const [byPair, byAddress] = await Promise.all([
        pairs.penalty(pairOf(clientId, network)),
        addresses.penalty(network),
      ])
      if (byPair.consumedPoints > failuresMax.clientFromAddress) refuse('rate_limited', [], retryAfterSeconds(byPair))
      if (byAddress.consumedPoints > failuresMax.address) refuse('rate_limited', [], retryAfterSeconds(byAddress))
    },
  }
}

/** An address holds no space. */
const pairOf = (clientId: string, network: string) => `${network} ${clientId}`

/** Addresses that one attacker controls: the IPv4 address, or the first 64 bits of an IPv6 address. */
function networkOf(address: string): string {
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

/** Counts a request of a client; refuses with `rate_limited` if it is one too many. */
export type RequestLimit = (clientId: string) => void

const requestWindowMs = 60_000

/** Limits the requests of each client in a minute, which begins with its first request; 0 is no limit. */
export function createRequestLimit(requestsPerMinute: number): RequestLimit {
  if (requestsPerMinute === 0) return () => {}
  const windows = new Map<string, { requests: number; endMs: number }>()
  return (clientId) => {
    const nowMs = performance.now()
    const window = windows.get(clientId)
    if (!window || window.endMs <= nowMs) {
      // The oldest come first.
      for (const [id, { endMs }] of windows) {
        if (endMs > nowMs) break
        windows.delete(id)
      }
      windows.set(clientId, { requests: 1, endMs: nowMs + requestWindowMs })
    } else if (++window.requests > requestsPerMinute) {
      refuse('rate_limited', [], retryAfterSeconds({ msBeforeNext: window.endMs - nowMs }))
    }
  }
}

const retryAfterSeconds = ({ msBeforeNext }: { msBeforeNext: number }) => Math.max(1, Math.ceil(msBeforeNext / 1000))
