import { type ColumnChange, limits } from '@penstock/wire'
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
 * Adds columns of a source to a mapping, each under its own name, after the existing entries. Skips columns that an entry already
 * reads, names that an entry already has (also as `null`, and if only the case differs), and names that cannot be stored. An
 * empty mapping stays empty, because it passes all columns.
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

/** Whether a mapping is empty, so that all columns pass. @param text of the mapping, which is valid */
export const passesAll = (text: string): boolean => Object.keys(readMapping(text, '').mapping ?? {}).length === 0

/**
 * Updates a mapping after changes of columns. An entry that reads a renamed column reads it under its new name. The entry of a
 * renamed column of the destination gets the new name. Entries of removed columns are removed. An entry with an expression does
 * not change.
 * @param text of the mapping, which is valid
 * @param columns of the source as they are now
 * @returns the same text if no change is necessary, or if no entry would remain
 */
export function followChanges(text: string, changes: readonly ColumnChange[], columns: readonly string[]): string {
  const { mapping = {} } = readMapping(text, '')
  let entries = Object.entries(mapping)
  for (const { side, change, column, to } of changes) {
    if (change !== 'renamed' && change !== 'removed') continue
    if (side === 'source') {
      if (columns.includes(column)) continue
      const name = change === 'renamed' && to !== null && columns.includes(to) ? to : undefined
      entries = entries.flatMap(([field, entry]) =>
        columnOf(entry) !== column ? [[field, entry]] : name === undefined ? [] : [[field, reading(entry, name)]],
      )
    } else if (change === 'removed' || entries.every(([field]) => field !== to)) {
      entries = entries.flatMap(([field, entry]) =>
        field !== column ? [[field, entry]] : change === 'removed' || to === null ? [] : [[to, entry]],
      )
    }
  }
  const followed = Object.fromEntries(entries)
  if (entries.length === 0 || JSON.stringify(followed) === JSON.stringify(mapping)) return text
  return JSON.stringify(followed, null, text.includes('\n') ? 2 : undefined)
}

type Entry = NonNullable<ReturnType<typeof readMapping>['mapping']>[string]

const reading = (entry: Entry, column: string): Entry =>
  entry !== null && typeof entry === 'object' && 'column' in entry ? { ...entry, column } : column

function columnOf(entry: Entry): string | undefined {
  if (entry === null || typeof entry === 'string') return entry ?? undefined
  return 'column' in entry ? entry.column : undefined
}
