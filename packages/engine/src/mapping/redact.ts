import type { Cell, Row } from '@penstock/connector'
import { kindOf } from './kinds.ts'

/** Maximum columns that are kept of a row; further columns are omitted. */
const columnsMax = 256

/**
 * A rejected row in its stored form: its columns and, for each value, its kind, its length and, for longer values, its first
 * character. This is enough to find the row in its source and to see what is unusual about it, but it does not identify the
 * person.
 */
export function redactRow(columns: readonly string[], row: Row): Record<string, string | null> {
  const kept: [string, string | null][] = []
  for (const [index, name] of columns.entries()) {
    if (index === columnsMax) break
    kept.push([name, redact(row[index] ?? null)])
  }
  return Object.fromEntries(kept)
}

/** `j… (16, e-mail)`. Integers, dates and even a `yes` can be personal data, so every value is changed. */
export function redact(value: Cell): string | null {
  if (value === null) return null
  if (value === '') return ''
  const text = String(value)
  const kind = kindOf(value)
  const length = [...text.slice(0, 10_000)].length
  const shown = kind === 'text' || kind === 'e-mail' ? firstLetter(text, length) : ''
  return `${shown}… (${text.length > 10_000 ? 'over 10000' : length}${kind === 'text' ? '' : `, ${kind}`})`
}

/** The first character if at least two more follow, and only if it is a letter or a digit. */
function firstLetter(text: string, length: number): string {
  const [first = ''] = text
  return length > 2 && /^[\p{L}\p{N}]$/u.test(first) ? first : ''
}
