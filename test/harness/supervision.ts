import type { ClaimLimits } from '../../packages/server/src/transfers/supervisor/claim.ts'
import type { SupervisorSettings } from '../../packages/server/src/transfers/supervisor/deps.ts'

/**
 * How tests supervise transfers. Transient errors are retried immediately, and for so long that a busy machine does not end a
 * transfer that would recover.
 */
export const supervision: SupervisorSettings = {
  retry: { firstMs: 1, mostMs: 10, totalMs: 60_000 },
  heartbeatTimeoutMs: 20_000,
  rejectsMax: 1_000,
  replaceShareMin: 0.5,
  progressMs: 60_000,
  parts: { atOnce: 4, bytesMin: 32 << 20 },
  runTimeMs: 3_600_000,
}

/** For errors that persist: a few tries, and then the transfer ends. */
export const impatient: SupervisorSettings['retry'] = { firstMs: 1, mostMs: 10, totalMs: 300 }

/** Claims that no test reaches a limit of. */
export const noLimits: ClaimLimits = {
  perOrganizationHere: 1_000,
  perAccountHere: 1_000,
  perAccount: 1_000,
  perPlatform: 0,
  perTransfer: 4,
}
