import type { ConnectorError } from './connector-error.ts'
import type { ConnectorContext } from './context.ts'
import type { Row } from './rows.ts'

/**
 * Sends one request of a source, for a person who describes the source and wants to see the answer. It sends the request once, whatever
 * the answer is, and follows no page. Throws a `ConnectorError` if nothing was answered.
 */
export type Ask = (context: AskContext) => Promise<Asked>

export type AskContext = ConnectorContext & {
  /** `next` of the answer before; `undefined` asks for the first page. It can come from anyone, so it is checked as any input. */
  readonly page: string | undefined
}

/** A request and its answer. The engine removes secrets and bounds the size. */
export type Asked = {
  /** Without what signs it in. */
  readonly request: { readonly method: string; readonly url: string }
  readonly answer: AskedAnswer
  /** Why a transfer could not use the answer. */
  readonly error?: ConnectorError | undefined
  /** The rows that a transfer would read from the answer. */
  readonly columns?: readonly string[]
  readonly rows?: readonly Row[]
  /** Leads to the next page; at most 4,000 characters. */
  readonly next?: string | undefined
}

/** An answer as it came. */
export type AskedAnswer = {
  readonly status: number
  readonly headers: Headers
  readonly text: string
  readonly durationMs: number
}
