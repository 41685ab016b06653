import type { Token } from '@penstock/wire'

/** Returns the token to send. `refused` is a token that the service has just refused; the source then returns another token. */
export type TokenSource = (refused?: string) => Promise<string>

/** A token is renewed this long before it expires, or at nine tenths of its life if that is later. */
const renewalMarginMs = 60_000

/**
 * Keeps a token, and renews it before it expires or after it was refused. Calls made while a request for a token is active share
 * its result. A failed request is not cached: the next call tries again.
 */
export function createTokenHolder(requestToken: () => Promise<Token>): TokenSource {
  let held: { value: string; renewalMs: number } | undefined
  let pending: Promise<string> | undefined

  const renew = async () => {
    const askedMs = Date.now()
    const { accessToken, expiry } = await requestToken()
    const lifetimeMs = expiry * 1000
    held = { value: accessToken, renewalMs: askedMs + lifetimeMs - Math.min(renewalMarginMs, lifetimeMs / 10) }
    return accessToken
  }
  return async (refused) => {
    if (held && held.value !== refused && Date.now() < held.renewalMs) return held.value
    pending ??= renew().finally(() => {
      pending = undefined
    })
    return pending
  }
}
