import { Outcome } from '@penstock/connector'
import type { DefectReport } from '@penstock/engine'
import { mayTransfer, type Role } from '@penstock/wire'
import { isAway, isDeadlock } from '../../db/errors.ts'
import type { StandingRow } from './queries.ts'

/** The ways in which a transfer ends before its source does. Each is thrown, and meant as an end, not as a failure. */

/** The transfer is another worker's by now. */
export class Lost extends Error {
  override readonly name = 'Lost'
}

/** The process ends: another worker continues. */
export class Released extends Error {
  override readonly name = 'Released'
}

/** A person stopped it, or what they changed did, for the reason that `code` names. */
export class Stopped extends Error {
  override readonly name = 'Stopped'
  readonly code: string | null
  constructor(code: string | null, message: string) {
    super(message)
    this.code = code
  }
}

/** A defect of a connector or of the engine, met in a runner. */
export class Defect extends Error {
  override readonly name = 'Defect'
  readonly isConnector: boolean
  readonly report: DefectReport
  /** The side of the connection whose connector it is of. */
  readonly side: Role | null
  constructor(isConnector: boolean, report: DefectReport, side: Role | null) {
    super(`A runner met a defect: ${report.type}`)
    this.isConnector = isConnector
    this.report = report
    this.side = side
  }
}

/**
 * Whether a transfer continues in another worker, or once our own database is there again. Whatever else is thrown ends
 * it: a defect of our own would otherwise be met again and again.
 */
export const resumes = (error: unknown): boolean =>
  error instanceof Lost ||
  error instanceof Released ||
  (!(error instanceof Outcome || error instanceof Defect) && (isAway(error) || isDeadlock(error)))

/** Why a transfer may not continue (invariant 3); undefined where it may. */
export function endingOf(standing: StandingRow | undefined): Error | undefined {
  if (!standing) return new Lost()
  if (standing.cancelling) return new Stopped(null, '')
  if (standing.gone) return new Stopped('account_deleted', 'The sub-account was deleted.')
  if (!standing.accountEnabled) {
    return new Stopped('account_disabled', 'The sub-account was disabled: enable it, then start a new transfer.')
  }
  if (!mayTransfer(standing.status)) {
    return new Stopped(
      'connection_not_active',
      `The connection became ${standing.status}: activate it, then start a new transfer.`,
    )
  }
  return undefined
}
