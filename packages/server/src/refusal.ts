import { type ErrorCode, errors, type Fault, limits, type TransferError } from '@penstock/wire'

/** A rule's no. It becomes the error answer of its code, whoever meets it. */
export class Refusal extends Error {
  readonly code: ErrorCode
  readonly faults: readonly Fault[]
  /** For `rate_limited` and `unavailable`: when to come back. */
  readonly retryAfterSeconds: number | undefined
  /** For `platform_refused`: what went wrong, and at which side of the connection. */
  override readonly cause: TransferError | undefined

  constructor(code: ErrorCode, faults: readonly Fault[], retryAfterSeconds?: number, cause?: TransferError) {
    super(errors[code].message)
    this.code = code
    this.faults = faults
    this.retryAfterSeconds = retryAfterSeconds
    this.cause = cause
  }
}

/** Says no: the only way in which a rule does. `faults` name every field that is at fault. */
export function refuse(code: ErrorCode, faults: readonly Fault[] = [], retryAfterSeconds?: number): never {
  throw new Refusal(code, faults, retryAfterSeconds)
}

/**
 * Refuses with `quota_exceeded` where `live` is more than the quota allows, or `kept`, which counts also what is deleted and
 * not yet removed for good, more than `quotaFactorWithDeleted` times as many. Both include what is being created.
 * @param what what is counted, and of whom: `sub-accounts of the organization`
 */
export function requireQuota(
  { live, kept }: { live: number; kept: number },
  { field, what, max, setting }: { field: string; what: string; max: number; setting: string },
): void {
  if (live > max) refuse('quota_exceeded', [{ field, message: `the quota is ${max} ${what}; ${setting} sets it` }])
  const keptMax = max * limits.quotaFactorWithDeleted
  if (kept > keptMax) {
    const message = `at most ${keptMax} ${what}, deleted ones included, are kept at once, and deleted ones for ${limits.restoreWindowDays} days; ${setting} sets a ${limits.quotaFactorWithDeleted}th of it`
    refuse('quota_exceeded', [{ field, message }])
  }
}

/** What says in which environment this deployment runs. */
export type InEnvironment = { readonly config: { readonly environment: { readonly name: string } } }

/** Whether a row was made in the environment of this deployment (`env`), and so can be changed here (`editable`). */
export const isEditable = ({ env }: { env: string }, { config }: InEnvironment): boolean =>
  env === config.environment.name

/** Refuses with `not_editable` what was made in another environment. */
export function requireEditable(row: { env: string }, deps: InEnvironment): void {
  if (!isEditable(row, deps)) refuse('not_editable')
}

/** Refuses with all faults at once where there are any. */
export function refuseFaults(faults: readonly Fault[], code: ErrorCode = 'invalid_request'): void {
  if (faults.length > 0) refuse(code, faults)
}
