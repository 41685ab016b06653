import { normalisations, type RecordField } from '@penstock/connector'
import type { Fault } from '@penstock/wire'
import { digests } from './hash.ts'

/**
 * Which column of the source fills a field of the destination: its name; `null` where the field is to stay empty; or one
 * value for all rows. Where the destination takes any columns, a column can also be brought into a form and hashed on its
 * way; a destination with fields of its own says for itself in which form it wants them.
 */
export type MappingEntry = string | null | { readonly value: string } | ColumnEntry
export type ColumnEntry = {
  readonly column: string
  readonly normalise?: NonNullable<RecordField['normalise']>
  readonly hash?: NonNullable<RecordField['hashed']>[number]
}

/** What a caller decides about fields, by the destination's name of the field. */
export type Mapping = Readonly<Record<string, MappingEntry>>

const lengthMax = 64 * 1024

/**
 * Reads a mapping from the text of a JSON object:
 * `{"email": "E-Mail", "phone": null, "action": {"value": "add"}, "em": {"column": "E-Mail", "normalise": "email", "hash": "sha256"}}`.
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
    else faults.push({ field: `${path}.${field}`, message: entryForm })
  }
  return faults.length > 0 ? { faults } : { mapping: Object.fromEntries(entries), faults }
}

const form = '{"field of the destination": "column of the source"}'

const entryForm = `must be a column of the source, null, {"value": "…"}, or {"column": "…"} with "normalise" (${normalisations.join(', ')}) or "hash" (${digests.join(', ')})`

function isMappingEntry(entry: unknown): entry is MappingEntry {
  if (entry === null) return true
  if (typeof entry === 'string') return entry !== ''
  if (typeof entry === 'object' && 'column' in entry) {
    const { column, normalise, hash, ...rest } = entry as Record<string, unknown>
    return (
      typeof column === 'string' &&
      column !== '' &&
      (normalise === undefined || normalisations.some((form) => form === normalise)) &&
      (hash === undefined || digests.some((digest) => digest === hash)) &&
      Object.keys(rest).length === 0
    )
  }
  return (
    typeof entry === 'object' &&
    Object.keys(entry).join() === 'value' &&
    'value' in entry &&
    typeof entry.value === 'string'
  )
}
