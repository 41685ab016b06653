import type { ConnectorErrorCode } from '@penstock/connector'
import type { ShownBody } from './shown-answer.ts'

/** The answer of a source to one request, as the runner reports it. It contains no secrets. */
export type ShownAnswer = {
  readonly request: { readonly method: string; readonly url: string }
  readonly answer: ShownBody & {
    readonly status: number
    readonly headers: readonly { readonly name: string; readonly value: string }[]
    /** The size of the body that came. */
    readonly bytes: number
    readonly durationMs: number
  }
  /** Why a transfer could not use the answer. */
  readonly error: { readonly code: ConnectorErrorCode; readonly message: string } | null
  /** The rows that a transfer would read from it, shortened as in a preview. */
  readonly columns: readonly string[]
  readonly rows: readonly (readonly (string | null)[])[]
  readonly next: string | null
}
