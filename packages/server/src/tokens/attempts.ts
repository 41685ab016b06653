import { RateLimiterMemory, RateLimiterRes } from 'rate-limiter-flexible'
import { refuse } from '../refusal.ts'

/** How many token requests may fail within the window, for one client and from one address, before more are refused. */
export const failuresMax = { client: 10, address: 30 } as const
export const failureWindowSeconds = 60

/**
 * Counts failed token requests, so that nobody guesses a secret; by client and by address.
 * A request asks before its secret is looked up and again once it is judged: of guesses that come all at once,
 * no more are answered than of guesses that come one by one.
 */
export type Attempts = {
  /** Refuses with `rate_limited` where too many failed. */
  check(clientId: string, address: string): Promise<void>
  /** Counts a failure; refuses with `rate_limited` where it is one too many. */
  failed(clientId: string, address: string): Promise<void>
}

export function createAttempts(): Attempts {
  const clients = new RateLimiterMemory({ points: failuresMax.client, duration: failureWindowSeconds })
  const addresses = new RateLimiterMemory({ points: failuresMax.address, duration: failureWindowSeconds })
  return {
    async check(clientId, address) {
      for (const state of await Promise.all([clients.get(clientId), addresses.get(address)])) {
        if (state && state.remainingPoints <= 0) refuse('rate_limited', [], retryAfterSeconds(state))
      }
    },
    async failed(clientId, address) {
      const [byClient, byAddress] = await Promise.all([clients.penalty(clientId), addresses.penalty(address)])
      if (byClient.consumedPoints > failuresMax.client) refuse('rate_limited', [], retryAfterSeconds(byClient))
      if (byAddress.consumedPoints > failuresMax.address) refuse('rate_limited', [], retryAfterSeconds(byAddress))
    },
  }
}

/** Counts a request of a client; refuses with `rate_limited` where it is one too many. */
export type RequestLimit = (clientId: string) => Promise<void>

/** Limits the requests of each client in a minute; 0 is no limit. */
export function createRequestLimit(requestsPerMinute: number): RequestLimit {
  if (requestsPerMinute === 0) return async () => {}
  const limiter = new RateLimiterMemory({ points: requestsPerMinute, duration: 60 })
  return async (clientId) => {
    try {
      await limiter.consume(clientId)
    } catch (state) {
      if (!(state instanceof RateLimiterRes)) throw state
      refuse('rate_limited', [], retryAfterSeconds(state))
    }
  }
}

const retryAfterSeconds = (state: RateLimiterRes) => Math.max(1, Math.ceil(state.msBeforeNext / 1000))
