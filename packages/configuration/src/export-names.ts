import { createHash } from 'node:crypto'
import { withoutReferences } from './references.ts'

/** How an export writes names and texts. */

export const byName = (one: { name: string; id: string }, other: { name: string; id: string }) =>
  one.name < other.name ? -1 : one.name > other.name ? 1 : one.id < other.id ? -1 : 1

/** The identifier of an entry, where its name is not its own. */
export const idIfTwin = (all: readonly { id: string; name: string }[], { id, name }: { id: string; name: string }) =>
  all.filter((one) => one.name === name).length > 1 ? { id } : {}

export const twinNote = (what: string) =>
  `There is more than one ${what}: the file names each by its id, which no other service knows. Rename all but one to use the file elsewhere.`

export const escaped = (value: unknown): unknown =>
  typeof value === 'string' ? withoutReferences(value) : Array.isArray(value) ? value.map(escaped) : value
export const wordsOf = (text: string) =>
  text
    .replaceAll(/([a-z0-9])([A-Z])/g, '$1_$2')
    .replaceAll(/[^A-Za-z0-9]+/g, '_')
    .replaceAll(/^_+|_+$/g, '')
    .toUpperCase()

/** Names as parts of names of variables: with a digest, where its words are not its own. */
export function wordsOfNames(names: readonly string[]): (name: string) => string {
  const isPlain = (name: string) => /^[\x20-\x7e]*[A-Za-z][\x20-\x7e]*$/.test(name)
  const counts = new Map<string, number>()
  for (const name of names) counts.set(wordsOf(name), (counts.get(wordsOf(name)) ?? 0) + 1)
  return (name) => {
    const words = wordsOf(name)
    if (isPlain(name) && counts.get(words) === 1) return words
    const digest = createHash('sha256').update(name).digest('hex').slice(0, 6).toUpperCase()
    return `${words || 'ACCOUNT'}_${digest}`
  }
}
