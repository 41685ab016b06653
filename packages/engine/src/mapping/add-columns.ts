import { limits } from '@penstock/wire'
import { storable } from '../storable.ts'
import { mappingLengthMax, readMapping } from './read-mapping.ts'

/** A mapping to which columns were added. */
export type ExtendedMapping = {
  readonly text: string
  /** The names that it lacked. */
  readonly added: readonly string[]
  /** Whether it is empty, so that all columns pass. */
  readonly passes: boolean
}

/**
 * Adds columns of a source to a mapping, each under its own name, behind the entries that are there. Left out are columns that an entry
 * reads already, names that an entry has already, `null` and names that differ only in case included, and names that cannot be stored.
 * An empty mapping stays empty, as all columns pass.
 * @param text of the mapping, which is valid, as it was saved
 * @returns `undefined` if the mapping would become too long
 */
export function extendMapping(text: string, names: readonly string[]): ExtendedMapping | undefined {
  const { mapping = {} } = readMapping(text, '')
  const entries = Object.entries(mapping)
  if (entries.length === 0) return { text, added: [], passes: true }
  const fields = new Set(entries.map(([field]) => field.toLowerCase()))
  const columns = new Set(entries.map(([, entry]) => columnOf(entry)))
  const added: string[] = []
  for (const name of names) {
    if (name === '' || name.length > limits.shapeTextLengthMax || storable(name) !== name) continue
    if (columns.has(name) || fields.has(name.toLowerCase())) continue
    fields.add(name.toLowerCase())
    added.push(name)
  }
  if (added.length === 0) return { text, added, passes: false }
  const extended = Object.fromEntries([...entries, ...added.map((name) => [name, name] as const)])
  const written = JSON.stringify(extended, null, text.includes('\n') ? 2 : undefined)
  return written.length > mappingLengthMax ? undefined : { text: written, added, passes: false }
}

function columnOf(entry: NonNullable<ReturnType<typeof readMapping>['mapping']>[string]): string | undefined {
  if (entry === null || typeof entry === 'string') return entry ?? undefined
  return 'column' in entry ? entry.column : undefined
}
