import type { ErrorFact } from '../kit/api.ts'

/** Google's names for transient errors of its newer APIs (`error.status`). */
export const googleCodes = {
  RESOURCE_EXHAUSTED: 'rate_limited',
  UNAVAILABLE: 'platform_error',
  INTERNAL: 'platform_error',
  ABORTED: 'platform_error',
  DEADLINE_EXCEEDED: 'platform_error',
} as const satisfies Readonly<Record<string, ErrorFact>>
