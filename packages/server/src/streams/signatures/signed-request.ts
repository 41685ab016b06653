import type { IncomingHttpHeaders } from 'node:http'

/** A request of a sender, as it was received. */
export type SignedRequest = {
  readonly method: string
  /** The full address that the sender used: scheme, host, path and query, not decoded. */
  readonly url: string
  /** By lower-case name, as Node reads them. */
  readonly headers: IncomingHttpHeaders
  /** The raw body, before anything parsed it. */
  readonly body: Buffer
  /** Valid secrets. There are two during a rotation. */
  readonly secrets: readonly string[]
  /** The current time, in ms since 1970. */
  readonly nowMs: number
}

/** The value of the first header that the request has, if any. A repeated header has no valid value. */
export function headerOf({ headers }: SignedRequest, ...names: readonly string[]): string | undefined {
  for (const name of names) {
    const value = headers[name]
    if (typeof value === 'string' && value !== '') return value
  }
  return undefined
}

/** Size limit of a single event. Parsing a larger body twice takes long, and the receiver refuses such an event anyway. */
const bytesMax = 256 * 1024

/**
 * The JSON value of the body, with integers that a number cannot hold as text. `undefined` if it is not JSON, or larger than
 * a single event can be.
 * @param isWhole whether a body of several events is read, too
 */
export function jsonOf({ body }: Pick<SignedRequest, 'body'>, isWhole = false): unknown {
  if (!isWhole && body.length > bytesMax) return undefined
  try {
    return JSON.parse(body.toString(), exactly)
  } catch {
    return undefined
  }
}

/** The fields of a form, or `undefined` if it has more than an event can have. */
export function formOf({ body }: SignedRequest): [name: string, value: string][] | undefined {
  const fields = [...new URLSearchParams(body.toString())]
  return fields.length > fieldsMax ? undefined : fields
}
const fieldsMax = 2_000

/** Keeps an ID of 64 bits exact. */
function exactly(_: string, value: unknown, context?: { readonly source?: string }): unknown {
  return typeof value === 'number' && Number.isInteger(value) && !Number.isSafeInteger(value)
    ? (context?.source ?? value)
    : value
}
