import type { Values } from '@penstock/connector'

/** A connector with its opened secrets and, if it is a side of a connection, that side's settings. */
export type OpenedSide = {
  readonly slug: string
  /** Which configuration of the connector it is; absent if none of its secrets was opened. */
  readonly configurationId?: string
  /** The saved configuration, secrets in the clear; defaults are filled in by the runner. */
  readonly secrets: Values
  readonly settings: Values
  /** Why it cannot be opened at all: a sentence that says who must do what. */
  readonly refusal?: string
}
