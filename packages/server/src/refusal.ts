import { type ErrorCode, errors, type Fault } from '@penstock/wire'

/** A rule's no. It becomes the error answer of its code, whoever meets it. */
export class Refusal extends Error {
  readonly code: ErrorCode
  readonly faults: readonly Fault[]
  /** For `rate_limited` and `unavailable`: when to come back. */
  readonly retryAfterSeconds: number | undefined

  constructor(code: ErrorCode, faults: readonly Fault[], retryAfterSeconds?: number) {
    super(errors[code].message)
    this.code = code
    this.faults = faults
    this.retryAfterSeconds = retryAfterSeconds
  }
}

/** Says no: the only way in which a rule does. `faults` name every field that is at fault. */
export function refuse(code: ErrorCode, faults: readonly Fault[] = [], retryAfterSeconds?: number): never {
  throw new Refusal(code, faults, retryAfterSeconds)
}

/** Refuses with all faults at once where there are any. */
export function refuseFaults(faults: readonly Fault[], code: ErrorCode = 'invalid_request'): void {
  if (faults.length > 0) refuse(code, faults)
}
