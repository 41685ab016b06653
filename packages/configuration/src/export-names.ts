import { createHash } from 'node:crypto'
import { withoutReferences } from './references.ts'
import type { Values } from './values.ts'

/** How an export writes names and texts. */

export const twinNote = (what: string) =>
  `Several resources have the name of the ${what}, so the file identifies each by its id. An id works only with this service: to use the file elsewhere, rename all but one.`

export const escaped = (value: unknown): unknown =>
  typeof value === 'string' ? withoutReferences(value) : Array.isArray(value) ? value.map(escaped) : value

export const escapeAll = (values: Readonly<Record<string, unknown>>) =>
  Object.fromEntries(Object.entries(values).map(([key, value]) => [key, escaped(value)])) as Values

/** A key of an entry that is omitted if it is empty. */
export const ifAny = <K extends string, V extends object>(key: K, values: V) =>
  (Object.keys(values).length > 0 ? { [key]: values } : {}) as { [key in K]?: V }

export const wordsOf = (text: string) =>
  text
    .replaceAll(/([a-z0-9])([A-Z])/g, '$1_$2')
    .replaceAll(/[^A-Za-z0-9]+/g, '_')
    .replaceAll(/^_+|_+$/g, '')
    .toUpperCase()

/** Names as parts of names of variables, with a digest if several names have the same words. */
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
