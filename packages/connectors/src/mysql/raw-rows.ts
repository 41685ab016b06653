import { isUtf8 } from 'node:buffer'
import type { ConnectorError } from '@penstock/connector'
import type { FieldPacket } from 'mysql2'
import { invalidAnswer } from './packet-guard.ts'

/** The values of a row as the server sends them; null if it has none. */
export type RawRow = readonly (Buffer | null)[]

/** A row of a lookup: texts by the names of their columns. */
export type LookupRow = { readonly [name: string]: string | null }

const replacement = '\uFFFD'

/** Decodes bytes as UTF-8; `undefined` if they are not valid UTF-8. */
export function textOf(bytes: Buffer): string | undefined {
  const text = bytes.toString()
  // The character stands for bytes that are not text, or for itself.
  return text.includes(replacement) && !isUtf8(bytes) ? undefined : text
}

/** The rows of a lookup; none if the server only confirms it. Throws `unexpected_response` if a value is not text. */
export function foundIn(host: string, result: unknown, fields: readonly FieldPacket[] | undefined): LookupRow[] {
  // A statement that gives no rows is confirmed.
  if (!Array.isArray(result) || !fields) return []
  return (result as RawRow[]).map((row) =>
    Object.fromEntries(
      fields.map(({ name }, at) => {
        const bytes = row[at] ?? null
        const text = bytes === null ? null : textOf(bytes)
        if (text === undefined) throw invalidAnswer(host, 'a value is not text')
        return [name, text]
      }),
    ),
  )
}

/** A value of a lookup that must be there; throws `unexpected_response` if it is not. */
export function valueIn(host: string, row: LookupRow | undefined, name: string): string {
  const value = row && Object.hasOwn(row, name) ? row[name] : undefined
  if (typeof value === 'string') return value
  throw invalidAnswer(host, `the value ${name} is missing in its answer`) as ConnectorError
}

/** The same for a whole number from 0 on. */
export function countIn(host: string, row: LookupRow | undefined, name: string): number {
  const text = valueIn(host, row, name)
  const number = /^\d{1,16}$/.test(text) ? Number(text) : Number.NaN
  if (!Number.isSafeInteger(number)) throw invalidAnswer(host, `the value ${name} in its answer is not a number`)
  return number
}
