import type { ErrorAction } from './error-actions.ts'
import { type TransferErrorCode, transferErrors } from './transfer-errors.ts'

/**
 * Effect of an error on a transfer and its connection. The engine uses this table while a transfer runs, and the
 * service when it ends. It only decides. The caller waits, splits and writes.
 */

/** Interruptions of a transfer that are not errors of it. */
export type Interruption =
  /** Another worker has taken over the transfer. */
  | 'lost'
  /** The process ends and returns the transfer to the queue. */
  | 'released'
  /** Our own database cannot be reached. */
  | 'database_away'
  /** A person cancelled it. */
  | 'cancelled'

export type TransferIncident = { readonly code: TransferErrorCode } | { readonly interruption: Interruption }

/** The state of the transfer when the error occurs. */
export type ErrorState = {
  /** The batch that was being delivered: several rows, one row, or `none` if the error does not belong to a batch. */
  readonly batch: 'rows' | 'row' | 'none'
  /** Whether the destination holds rows that it has not confirmed. These rows must be read again. */
  readonly holds: boolean
  /** How long to wait before another try; null if the retry policy allows no more. */
  readonly retryAfterMs: number | null
}

/** The state of a transfer that is ending: nothing is retried. */
export const finalState: ErrorState = { batch: 'none', holds: false, retryAfterMs: null }

export type Decision =
  /** Wait, then deliver the same batch through a new writer. */
  | { readonly do: 'resend'; readonly afterMs: number }
  /** Wait, then open both sides again at the last confirmed checkpoint. */
  | { readonly do: 'reopen'; readonly afterMs: number }
  /** Deliver the halves of the batch. */
  | { readonly do: 'split' }
  /** Reject the only row of the batch. */
  | { readonly do: 'reject' }
  /** Queue the transfer again, for another runner. */
  | { readonly do: 'requeue' }
  /** Write nothing: another worker has the transfer, or claims it once its heartbeats stop. */
  | { readonly do: 'leave' }
  /** End the transfer, and change the status of the connection if a trigger of its lifecycle is named. */
  | {
      readonly do: 'end'
      readonly status: 'failed' | 'cancelled'
      readonly connection: 'breakdown' | 'outage' | null
    }

const leave: Decision = { do: 'leave' }
const requeue: Decision = { do: 'requeue' }
const cancel: Decision = { do: 'end', status: 'cancelled', connection: null }
const fail = (connection: 'breakdown' | 'outage' | null): Decision => ({ do: 'end', status: 'failed', connection })

const byInterruption: Readonly<Record<Interruption, Decision>> = {
  lost: leave,
  released: requeue,
  database_away: leave,
  cancelled: cancel,
}

const again = ({ batch, holds, retryAfterMs }: ErrorState, end: Decision): Decision =>
  retryAfterMs === null ? end : { do: batch === 'none' || holds ? 'reopen' : 'resend', afterMs: retryAfterMs }

const byAction: Readonly<Record<ErrorAction, (state: ErrorState) => Decision>> = {
  retry: (state) => again(state, fail(null)),
  reconnect: (state) => again(state, fail('outage')),
  split: ({ batch }) => (batch === 'none' ? fail(null) : { do: batch === 'rows' ? 'split' : 'reject' }),
  reauthenticate: () => fail('breakdown'),
  reconfigure: () => fail('breakdown'),
  restart: ({ retryAfterMs }) => (retryAfterMs === null ? fail('breakdown') : requeue),
  reassign: ({ retryAfterMs }) => (retryAfterMs === null ? fail('outage') : requeue),
  fail: () => fail(null),
  stop: () => cancel,
}

/** Decides how to handle an error, or an interruption, of a transfer in a state. */
export const decide = (incident: TransferIncident, state: ErrorState): Decision =>
  'interruption' in incident
    ? byInterruption[incident.interruption]
    : byAction[transferErrors[incident.code].action](state)

const ofTable: ReadonlySet<TransferErrorCode> = new Set([
  ...(['permission_denied', 'invalid_setting', 'not_supported', 'table_not_found', 'column_not_found'] as const),
  ...(['key_not_unique', 'columns_do_not_fit', 'invalid_query', 'object_not_found'] as const),
  ...(['out_of_memory', 'no_progress', 'runner_crashed', 'table_paused'] as const),
])

/** Whether an error that breaks a connection can be of one table of many, so that the other tables are moved. */
export const isOfOneTable = (code: TransferErrorCode): boolean => ofTable.has(code)
