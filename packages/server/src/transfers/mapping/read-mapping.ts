import type { Fault } from '@penstock/wire'

/**
 * Which column of the source fills a field of the destination: its name; `null` where the field is to stay empty; or one
 * value for all rows.
 */
export type MappingEntry = string | null | { readonly value: string }

/** What a caller decides about fields, by the destination's name of the field. */
export type Mapping = Readonly<Record<string, MappingEntry>>

const lengthMax = 64 * 1024

/**
 * Reads a mapping from the text of a JSON object: `{"email": "E-Mail", "phone": null, "action": {"value": "add"}}`.
 * An empty text is no mapping. Otherwise either the mapping or all faults at once, each naming its field.
 * @param path where the text stands in the request, for the faults
 */
export function readMapping(text: string | undefined, path: string): { mapping?: Mapping; faults: Fault[] } {
  if (text === undefined || text.trim() === '') return { faults: [] }
  if (text.length > lengthMax)
    return { faults: [{ field: path, message: `must have at most ${lengthMax} characters` }] }
  let read: unknown
  try {
    read = JSON.parse(text)
  } catch {
    return { faults: [{ field: path, message: `must be a JSON object: ${form}` }] }
  }
  if (typeof read !== 'object' || read === null || Array.isArray(read)) {
    return { faults: [{ field: path, message: `must be a JSON object: ${form}` }] }
  }
  const faults: Fault[] = []
  const entries: [string, MappingEntry][] = []
  for (const [field, entry] of Object.entries(read)) {
    if (isMappingEntry(entry)) entries.push([field, entry])
    else faults.push({ field: `${path}.${field}`, message: `must be a column of the source, null or {"value": "…"}` })
  }
  return faults.length > 0 ? { faults } : { mapping: Object.fromEntries(entries), faults }
}

const form = '{"field of the destination": "column of the source"}'

function isMappingEntry(entry: unknown): entry is MappingEntry {
  if (entry === null) return true
  if (typeof entry === 'string') return entry !== ''
  return (
    typeof entry === 'object' &&
    Object.keys(entry).join() === 'value' &&
    'value' in entry &&
    typeof entry.value === 'string'
  )
}
