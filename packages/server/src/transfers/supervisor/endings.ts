import { ConnectorError } from '@penstock/connector'
import type { DefectReport } from '@penstock/engine'
import { decide, finalState, mayTransfer, type Role, type StopCode, type TransferIncident } from '@penstock/wire'
import { isAway, isDeadlock } from '../../db/errors.ts'
import { RunnerDied } from '../../runners/runner-process.ts'
import { Unreadable } from '../../secrets/seal.ts'
import { crashCodes } from './crashes.ts'
import type { StandingRow } from './queries.ts'

/** The ways in which a transfer ends before its source does. Each is thrown as a result, not as a failure. */

/** Another worker has claimed the transfer. */
export class Lost extends Error {
  override readonly name = 'Lost'
}

/** Workers move the parts of the transfer from now on. */
export class Divided extends Error {
  override readonly name = 'Divided'
  readonly parts: number
  constructor(parts: number) {
    super(`The transfer is divided into ${parts} parts`)
    this.parts = parts
  }
}

/** The process ends: another worker continues. */
export class Released extends Error {
  override readonly name = 'Released'
}

/** A person stopped it, or changed something that stops it, for the reason in `code`. */
export class Stopped extends Error {
  override readonly name = 'Stopped'
  readonly code: StopCode | null
  constructor(code: StopCode | null, message: string) {
    super(message)
    this.code = code
  }
}

/** A defect of a connector or of the engine, met in a runner. */
export class Defect extends Error {
  override readonly name = 'Defect'
  readonly isConnector: boolean
  readonly report: DefectReport
  /** The side of the connection whose connector failed. */
  readonly side: Role | null
  constructor(isConnector: boolean, report: DefectReport, side: Role | null) {
    super(`A runner met a defect: ${report.type}`)
    this.isConnector = isConnector
    this.report = report
    this.side = side
  }
}

/**
 * Input of `decide` for the error of a transfer. An unknown error is a defect of Penstock, and would occur again on
 * each attempt.
 */
export function incidentOf(error: unknown): TransferIncident {
  if (error instanceof Lost || error instanceof Divided) return { interruption: 'lost' }
  if (error instanceof Released) return { interruption: 'released' }
  if (error instanceof Stopped) return error.code === null ? { interruption: 'cancelled' } : { code: error.code }
  if (error instanceof ConnectorError) return { code: error.code }
  if (error instanceof Unreadable) return { code: 'stored_value_unreadable' }
  if (error instanceof RunnerDied) {
    // The machine or the files of this worker are the cause, and no attempt counts.
    return error.reason === 'not_started' ? { interruption: 'released' } : { code: crashCodes[error.reason] }
  }
  if (error instanceof Defect) return { code: error.isConnector ? 'connector_failed' : 'internal' }
  return isAway(error) || isDeadlock(error) ? { interruption: 'database_away' } : { code: 'internal' }
}

/** Whether a transfer continues in another worker, or when our own database is available again. */
export function resumes(error: unknown): boolean {
  const decision = decide(incidentOf(error), finalState)
  return decision.do === 'leave' || decision.do === 'requeue'
}

/** Why a transfer may not continue (invariant 3); undefined if it may. */
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
