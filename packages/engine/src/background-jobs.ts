import type { Json } from '@penstock/connector'
import type { OpenedSide } from './opened-side.ts'

/** Jobs whose result nobody waits for. */

/** Measures the log from which a source reads changes. */
export type MeasureLogJob = {
  readonly kind: 'measure log'
  readonly connector: OpenedSide
  readonly slot: string
  readonly cursor: Json | null
  readonly deadlineMs: number
}

/** Drops the slot for which a server keeps its log. */
export type DropSlotJob = {
  readonly kind: 'drop slot'
  readonly connector: OpenedSide
  readonly slot: string
  /** The position up to which the slot had released its changes at the last measurement. */
  readonly confirmed: string | null
  readonly deadlineMs: number
}

/** Reads the sizes of the audiences that a connection feeds. */
export type MeasureAudiencesJob = {
  readonly kind: 'measure audiences'
  readonly connector: OpenedSide
  /** The state of the connection at its destination. */
  readonly state: Json | null
  readonly deadlineMs: number
}

export type DroppedSlot = 'dropped' | 'missing' | 'in_use'

/** Does nothing: shows that a runner starts and answers. */
export type PingJob = { readonly kind: 'ping' }

/** Puts events into the store of their configuration until its supervisor has no more. */
export type PutEventsJob = { readonly kind: 'put events'; readonly connector: OpenedSide }
