import type { ConnectionStatus } from './terms.ts'

/**
 * The lifecycle of a connection (specification, section 3). `docs/api-decisions.md` explains the transitions that the
 * specification leaves open. The server and the console use this table.
 */

/** Actions that a caller can request on a connection's status. */
export const statusActions = ['activate', 'enable', 'disable'] as const
export type StatusAction = (typeof statusActions)[number]

/** Everything that can change the status of a connection: requests of callers, results of transfers, and time. */
export const triggers = [...statusActions, 'delete', 'restore', 'breakdown', 'outage', 'recovery'] as const
export type Trigger = (typeof triggers)[number]

/** The result of a trigger in a status. */
export type Transition =
  /** The connection gets (or keeps) this status; with `ready`, both sides must be configured and complete first. */
  | { to: ConnectionStatus; ready: boolean }
  /** The connection returns to its status before it was disabled or deleted; to `active` only if it is ready. */
  | { to: 'previous' }
  /** Refused with this error code. */
  | { refused: 'connection_deleted' | 'connection_not_deleted' }

const go = (to: ConnectionStatus): Transition => ({ to, ready: false })
const toActive: Transition = { to: 'active', ready: true }
const toDisabled = go('disabled')
const toDeleted = go('deleted')
const isDeleted: Transition = { refused: 'connection_deleted' }
const isNotDeleted: Transition = { refused: 'connection_not_deleted' }

/**
 * Every status × every trigger. `breakdown`, `outage` and `recovery` are results of transfers and probes. If they no longer
 * apply, because the status changed in the meantime, they change nothing.
 */
export const lifecycle: { readonly [S in ConnectionStatus]: { readonly [T in Trigger]: Transition } } = {
  'In-progress': {
    activate: toActive,
    enable: go('In-progress'),
    disable: toDisabled,
    delete: toDeleted,
    restore: isNotDeleted,
    breakdown: go('In-progress'),
    outage: go('In-progress'),
    recovery: go('In-progress'),
  },
  active: {
    activate: go('active'),
    enable: go('active'),
    disable: toDisabled,
    delete: toDeleted,
    restore: isNotDeleted,
    breakdown: go('broken'),
    outage: go('offline'),
    recovery: go('active'),
  },
  disabled: {
    activate: toActive,
    enable: { to: 'previous' },
    disable: go('disabled'),
    delete: toDeleted,
    restore: isNotDeleted,
    breakdown: go('disabled'),
    outage: go('disabled'),
    recovery: go('disabled'),
  },
  deleted: {
    activate: isDeleted,
    enable: isDeleted,
    disable: isDeleted,
    delete: isDeleted,
    restore: toDisabled,
    breakdown: go('deleted'),
    outage: go('deleted'),
    recovery: go('deleted'),
  },
  broken: {
    activate: toActive,
    enable: go('broken'),
    disable: toDisabled,
    delete: toDeleted,
    restore: isNotDeleted,
    breakdown: go('broken'),
    outage: go('broken'),
    recovery: go('broken'),
  },
  offline: {
    activate: toActive,
    enable: go('offline'),
    disable: toDisabled,
    delete: toDeleted,
    restore: isNotDeleted,
    breakdown: go('offline'),
    outage: go('offline'),
    recovery: go('active'),
  },
}

/** A status that `enable` can lead back to. */
export type PreviousStatus = Exclude<ConnectionStatus, 'disabled' | 'deleted'>

/** Whether the connection can transfer data (invariant 3). */
export function mayTransfer(status: ConnectionStatus): boolean {
  return status === 'active'
}

/** The `enabled` flag of a connection (section 2.8) follows from its status. */
export function isEnabled(status: ConnectionStatus): boolean {
  return status !== 'disabled' && status !== 'deleted'
}
