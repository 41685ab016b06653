import type { Write } from '../databases/tab-separated.ts'

/** Arrays as cells hold them, in JSON, and as PostgreSQL takes them. */

/** Not among the types of the language version that we compile for. */
const json = JSON as typeof JSON & { rawJSON(text: string): object }
type Reviver = (this: unknown, key: string, value: unknown, context: { source?: string }) => unknown
const parseWith = JSON.parse as (text: string, reviver: Reviver) => unknown

/** A number with the very digits that it was written with. */
class Digits {
  readonly text: string
  constructor(text: string) {
    this.text = text
  }
  toJSON(): object {
    return json.rawJSON(this.text)
  }
}

/**
 * A JSON array as PostgreSQL's text of an array, with every digit of its numbers.
 * @param inner writes the elements
 * @param ofJson whether elements are JSON: then an array within the array is an element, and else a dimension
 * @return `undefined` if the text is not a JSON array
 */
export function arrayTextOf(text: string, inner: { readonly write: Write }, ofJson: boolean): string | undefined {
  if (!/^\s*\[/.test(text)) return undefined
  let value: unknown
  try {
    value = parseWith(text, (_key, part, { source }) =>
      typeof part === 'number' ? new Digits(source ?? String(part)) : part,
    )
  } catch {
    return undefined
  }
  return Array.isArray(value) ? listOf(value, inner, ofJson) : undefined
}

function listOf(list: readonly unknown[], inner: { readonly write: Write }, ofJson: boolean): string {
  const parts = list.map((value) => {
    // A null within JSON looks like a missing value; PostgreSQL itself writes both alike.
    if (value === null) return 'NULL'
    if (ofJson) return quoted(JSON.stringify(value))
    if (Array.isArray(value)) return listOf(value, inner, false)
    const cell =
      value instanceof Digits
        ? value.text
        : typeof value === 'object'
          ? JSON.stringify(value)
          : (value as string | boolean)
    // An empty text of a type that has none is for the database to refuse, because it is no null.
    return quoted(inner.write(cell) ?? '')
  })
  return `{${parts.join(',')}}`
}

const quoted = (text: string): string => `"${text.replace(/["\\]/g, '\\$&')}"`
