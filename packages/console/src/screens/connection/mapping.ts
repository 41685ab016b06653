import { connection as say } from '../../strings/connection.ts'
import type { ColumnReading } from '../new-connection/mapping/mapping.ts'
import { wordsOfReading } from '../new-connection/mapping/words.ts'

/** One line of a mapping, in words; `from` is empty if the field stays empty. */
export type MappingLine = { field: string; from: string; form: string }

/**
 * Reads the text of a mapping for people. Undefined if it is no mapping, which only the service can have let through
 * under other rules.
 */
export function linesOfMapping(text: string): MappingLine[] | undefined {
  let read: unknown
  try {
    read = JSON.parse(text)
  } catch {
    return undefined
  }
  if (typeof read !== 'object' || read === null || Array.isArray(read)) return undefined
  return Object.entries(read).map(([field, entry]) => ({ field, ...inWords(entry) }))
}

function inWords(entry: unknown): { from: string; form: string } {
  if (entry === null) return { from: '', form: '' }
  if (typeof entry === 'string') return { from: say.column(entry), form: say.asIs }
  if (typeof entry !== 'object') return { from: String(entry), form: '' }
  const { value, column, expression, normalise, hash } = entry as Record<string, unknown>
  if (value !== undefined) return { from: say.always(String(value)), form: '' }
  const form = [
    normalise && String(normalise),
    hash && say.hashedBy(String(hash)),
    ...wordsOfReading(entry as ColumnReading),
  ]
    .filter(Boolean)
    .join(', ')
  return { from: expression === undefined ? say.column(String(column)) : String(expression), form: form || say.asIs }
}
