import type { ConnectorErrorCode, Values } from '@penstock/connector'

/** A connector with its opened secrets and, if it is a side of a connection, that side's settings. */
export type OpenedSide = {
  readonly slug: string
  /** Identifier of the connector's configuration; absent if no secret of it was opened. */
  readonly configurationId?: string
  /** The saved configuration, with secrets in the clear. The runner fills in defaults. */
  readonly secrets: Values
  readonly settings: Values
  /** Why it cannot be opened: a sentence about who must do what. */
  readonly refusal?: { readonly code: ConnectorErrorCode; readonly message: string }
}
