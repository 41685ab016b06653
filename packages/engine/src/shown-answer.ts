import { type AskedAnswer, redactedText } from '@penstock/connector'
import { limits } from '@penstock/wire/rules'
import type { ShownBody, ShownReply } from './source-answer.ts'
import { storable } from './storable.ts'

/** An answer of a platform in the form that people can see: without secrets, and of limited size. */

type Redact = (text: string) => string
type Reviver = (key: string, value: unknown, context: { source?: string }) => unknown

// Numbers keep all their digits. The library of TypeScript does not have these two yet.
const parseWith = JSON.parse as (text: string, reviver: Reviver) => unknown
const { rawJSON, isRawJSON } = JSON as unknown as {
  rawJSON(text: string): { readonly rawJSON: string }
  isRawJSON(value: unknown): value is { readonly rawJSON: string }
}

/** How much of a text that is not JSON, of a text in it, and of a header is shown, in characters. */
const plainLengthMax = 2_000
const textLengthMax = 1_000
const headerLengthMax = 300
const headersMax = 50
/** Values below this depth are omitted. */
const depthMax = 60
/** Tried one after the other until an answer is small enough. */
const entriesTried = [200, 100, 50, 20, 10, 5, 2, 1] as const
const secretHeader = /auth|token|key|secret|cookie|signature|password/i

/** The address of a request that is shown, in characters. */
export const addressLengthMax = 2_000

/** Why a secret cannot be replaced while values that are not saved are tried. */
export const unsaved =
  'Save the configuration first: the API can replace the token with each use, and the new one must be saved.'

/** An answer as it is shown. */
export const shownReply = ({ status, headers, text, durationMs }: AskedAnswer, redact: Redact): ShownReply => ({
  status,
  headers: shownHeaders(headers, redact),
  bytes: Buffer.byteLength(text),
  durationMs: Math.round(durationMs),
  ...shownBody(text, redact),
})

/** The body of an answer: JSON of at most `limits.answerBytesMax` bytes, or the beginning of another text. */
export function shownBody(text: string, redact: Redact): ShownBody {
  const value = parsed(text)
  if (value === undefined) return plainBody(text, redact)
  if (Buffer.byteLength(text) <= limits.answerBytesMax) return jsonBody(value, Number.POSITIVE_INFINITY, redact)
  for (const entriesMax of entriesTried) {
    const body = jsonBody(shortened(value, entriesMax, 0), entriesMax, redact)
    if (Buffer.byteLength(body.text) <= limits.answerBytesMax) return body
  }
  return plainBody(text, redact)
}

/** Headers of an answer; values that can be credentials are replaced. */
export const shownHeaders = (headers: Headers, redact: Redact): { name: string; value: string }[] =>
  [...headers].slice(0, headersMax).map(([name, value]) => ({
    name: storable(redact(name)).toWellFormed(),
    value: secretHeader.test(name) ? redactedText : cut(redact(value), headerLengthMax),
  }))

function parsed(text: string): unknown {
  try {
    return parseWith(text, (_key, value, { source }) =>
      typeof value === 'number' && source !== undefined ? rawJSON(source) : value,
    )
  } catch {
    // It is not JSON, or too deep.
    return undefined
  }
}

const plainBody = (text: string, redact: Redact): ShownBody => ({
  text: cut(redact(text.slice(0, 2 * plainLengthMax)), plainLengthMax),
  json: false,
  entriesMax: null,
})

const jsonBody = (value: unknown, entriesMax: number, redact: Redact): ShownBody => ({
  text: JSON.stringify(cleaned(value, redact, 0)),
  json: true,
  entriesMax: Number.isFinite(entriesMax) ? entriesMax : null,
})

function shortened(value: unknown, entriesMax: number, depth: number): unknown {
  if (depth > depthMax || typeof value !== 'object' || value === null || isRawJSON(value)) return value
  if (Array.isArray(value)) return value.slice(0, entriesMax).map((one) => shortened(one, entriesMax, depth + 1))
  const entries = Object.entries(value).slice(0, entriesMax)
  return Object.fromEntries(entries.map(([key, one]) => [key, shortened(one, entriesMax, depth + 1)]))
}

/** Without secrets, also in names and numbers. */
function cleaned(value: unknown, redact: Redact, depth: number): unknown {
  if (typeof value === 'string') return cut(redact(value), textLengthMax)
  if (typeof value !== 'object' || value === null) return value
  if (isRawJSON(value)) {
    const text = redact(value.rawJSON)
    return text === value.rawJSON ? value : text
  }
  if (depth > depthMax) return '…'
  if (Array.isArray(value)) return value.map((one) => cleaned(one, redact, depth + 1))
  return Object.fromEntries(
    Object.entries(value).map(([key, one]) => [cut(redact(key), textLengthMax), cleaned(one, redact, depth + 1)]),
  )
}

const cut = (text: string, lengthMax: number): string =>
  storable(text.length > lengthMax ? `${text.slice(0, lengthMax)}…` : text).toWellFormed()
