import type { ConnectorErrorCode } from '@penstock/connector'

/** The body of an answer as it is shown. */
export type ShownBody = {
  readonly text: string
  /** Whether the text is JSON. */
  readonly json: boolean
  /** Each list and object has so many entries at most; `null` if all are there. */
  readonly entriesMax: number | null
}

/** The answer of a source to one request, as the runner reports it. It contains no secrets. */
export type ShownAnswer = {
  readonly request: { readonly method: string; readonly url: string }
  readonly answer: ShownReply
  /** Why a transfer could not use the answer. */
  readonly error: { readonly code: ConnectorErrorCode; readonly message: string } | null
  /** The rows that a transfer would read from it, shortened as in a preview. */
  readonly columns: readonly string[]
  readonly rows: readonly (readonly (string | null)[])[]
  readonly next: string | null
}

/** The answer of a platform to one request. */
export type ShownReply = ShownBody & {
  readonly status: number
  readonly headers: readonly { readonly name: string; readonly value: string }[]
  /** The size of the body that came. */
  readonly bytes: number
  readonly durationMs: number
}

/** The result of a few rows at a destination, as the runner reports it. Nothing in it has a secret. */
export type ShownTrial = {
  readonly exchanges: readonly {
    readonly request: { readonly method: string; readonly url: string; readonly text: string }
    readonly answer: ShownReply
  }[]
  /** In the order of the rows. */
  readonly rows: readonly { readonly state: 'accepted' | 'rejected' | 'unknown'; readonly reason: string | null }[]
  readonly error: { readonly code: ConnectorErrorCode; readonly message: string } | null
}
