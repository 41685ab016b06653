import { type ErrorCode, errors, type FieldError, limits, type TransferError } from '@penstock/wire'

/** A rule does not allow the request. It becomes the error answer of its code, wherever it is thrown. */
export class Refusal extends Error {
  readonly code: ErrorCode
  readonly fieldErrors: readonly FieldError[]
  /** For `rate_limited` and `unavailable`: when to come back. */
  readonly retryAfterSeconds: number | undefined
  /** For `platform_refused`: the error, and the side of the connection where it happened. */
  override readonly cause: TransferError | undefined

  constructor(code: ErrorCode, fieldErrors: readonly FieldError[], retryAfterSeconds?: number, cause?: TransferError) {
    super(errors[code].message)
    this.code = code
    this.fieldErrors = fieldErrors
    this.retryAfterSeconds = retryAfterSeconds
    this.cause = cause
  }
}

/** Says no: the only way in which a rule does. `errors` name every field that is at error. */
export function refuse(code: ErrorCode, fieldErrors: readonly FieldError[] = [], retryAfterSeconds?: number): never {
  throw new Refusal(code, fieldErrors, retryAfterSeconds)
}

/**
 * Refuses with `quota_exceeded` if `live` is more than the quota. Refuses also if `kept`, which includes deleted resources that
 * are not yet permanently removed, is more than `quotaFactorWithDeleted` times the quota. Both include the resource that is
 * being created.
 * @param what the counted resource and its owner: `sub-accounts of the organization`
 */
export function requireQuota(
  { live, kept }: { live: number; kept: number },
  { field, what, max, setting }: { field: string; what: string; max: number; setting: string },
): void {
  if (live > max) refuse('quota_exceeded', [{ field, message: `the quota is ${max} ${what}; ${setting} sets it` }])
  const keptMax = max * limits.quotaFactorWithDeleted
  if (kept > keptMax) {
    const message = `at most ${keptMax} ${what} are kept, including deleted ones, which are kept for ${limits.restoreWindowDays} days. This is ${limits.quotaFactorWithDeleted} times ${setting}`
    refuse('quota_exceeded', [{ field, message }])
  }
}

/** More than what all processes create at the same time: that many connections to PostgreSQL they do not have. */
const createdAtOnceMax = 256

/**
 * Whether concurrent creations could exceed a quota of `max`. Then each creation must wait for the earlier ones, to count them.
 */
export const isNearQuota = ({ live, kept }: { live: number; kept: number }, max: number): boolean =>
  live + createdAtOnceMax > max || kept + createdAtOnceMax > max * limits.quotaFactorWithDeleted

/**
 * Refuses with `quota_exceeded` if one more would exceed the limit of the organization, or the limit of one sub-account. So one
 * sub-account cannot use up the limit that all share.
 * @param what the counted resource, such as `alert rules`; `ofAccount`: the same resource of a sub-account, such as `alert
 * rules of a sub-account`
 * @param advice what to do: `delete those that are not needed`
 */
export function requireShare(
  { total, ofAccount }: { total: number; ofAccount: number },
  most: { total: number; ofAccount: number },
  texts: { field: string; what: string; ofAccount: string; advice: string },
): void {
  const refuseAbove = (max: number, what: string) =>
    refuse('quota_exceeded', [{ field: texts.field, message: `at most ${max} ${what}: ${texts.advice}` }])
  if (total >= most.total) refuseAbove(most.total, texts.what)
  if (ofAccount >= most.ofAccount) refuseAbove(most.ofAccount, texts.ofAccount)
}

/** The environment of this deployment. */
export type InEnvironment = { readonly config: { readonly environment: { readonly name: string } } }

/** Whether a row was made in the environment of this deployment (`env`), and so can be changed here (`editable`). */
export const isEditable = ({ env }: { env: string }, { config }: InEnvironment): boolean =>
  env === config.environment.name

/** Refuses with `not_editable` what was made in another environment. */
export function requireEditable(row: { env: string }, deps: InEnvironment): void {
  if (!isEditable(row, deps)) refuse('not_editable')
}

/** Refuses with all field errors together, if there are any. */
export function refuseFieldErrors(fieldErrors: readonly FieldError[], code: ErrorCode = 'invalid_request'): void {
  if (fieldErrors.length > 0) refuse(code, fieldErrors)
}
