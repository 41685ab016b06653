import type { ErasedPerson, PersonIdentifier } from '@penstock/connector'
import type { OpenedSide } from './opened-side.ts'

/** Asks the platform of a destination to erase a person. */
export type EraseJob = {
  readonly kind: 'erase'
  readonly connector: OpenedSide
  /** Of the kinds that the destination accepts. */
  readonly identifiers: readonly PersonIdentifier[]
  readonly deadlineMs: number
}

/** The answer about one identifier; `unknown`: the platform did not answer, or was not asked any more. */
export type ErasedIdentifier = {
  readonly outcome: ErasedPerson['outcome'] | 'unknown'
  /** Why it was refused, or why the outcome is unknown. */
  readonly reason: string | null
}
