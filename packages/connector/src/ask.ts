import type { ConnectorError } from './connector-error.ts'
import type { ConnectorContext } from './context.ts'
import type { Row } from './rows.ts'

/**
 * Sends one request of a source, for a person who writes its definition and wants to see the answer. It sends the request exactly
 * once, and does not follow the next page. Throws a `ConnectorError` if there is no answer.
 */
export type Ask = (context: AskContext) => Promise<Asked>

export type AskContext = ConnectorContext & {
  /** `next` of the previous answer; `undefined` requests the first page. It is untrusted input, so check it. */
  readonly page: string | undefined
}

/** A request and its answer. The engine removes secrets and bounds the size. */
export type Asked = {
  /** Without credentials. */
  readonly request: { readonly method: string; readonly url: string }
  readonly answer: AskedAnswer
  /** Why a transfer could not use the answer. */
  readonly error?: ConnectorError | undefined
  /** The rows that a transfer would read from the answer. */
  readonly columns?: readonly string[]
  readonly rows?: readonly Row[]
  /** Cursor of the next page; at most 4,000 characters. */
  readonly next?: string | undefined
}

/** An unchanged answer. */
export type AskedAnswer = {
  readonly status: number
  readonly headers: Headers
  readonly text: string
  readonly durationMs: number
}
