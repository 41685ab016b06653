import { Outcome, retryAfterMs } from '@penstock/connector'
import type { Answer } from './call.ts'

/**
 * What an HTTP status means where the platform's own codes say nothing more.
 * @param platform its name, for the message
 */
export function outcomeOfStatus(platform: string, { status, headers }: Pick<Answer, 'status' | 'headers'>): Outcome {
  const wait = waitOf(retryAfterMs({ headers }))
  if (status === 401) {
    return new Outcome('refused', 'invalid_credentials', `${platform} does not accept the credentials; renew them.`)
  }
  if (status === 403) {
    return new Outcome(
      'refused',
      'permission_denied',
      `${platform} denies access; check the rights of these credentials.`,
    )
  }
  if (status === 404) {
    return new Outcome('refused', 'not_found', `${platform} does not know what the settings name; check the IDs.`)
  }
  if (status === 413) return new Outcome('split', 'batch_too_large', `${platform} finds the batch too large.`)
  if (status === 408 || status === 425 || status === 429) {
    return new Outcome('retry', 'rate_limited', `${platform} asks to wait (status ${status}).`, wait)
  }
  if (status >= 500) {
    return new Outcome('retry', 'platform_fault', `${platform} has a fault of its own (status ${status}).`, wait)
  }
  return new Outcome('failed', 'unexpected_answer', `${platform} answered with the unexpected status ${status}.`)
}

/** As an outcome takes it: absent where nothing was said. */
export const waitOf = (afterMs: number | undefined): { afterMs?: number } => (afterMs === undefined ? {} : { afterMs })
