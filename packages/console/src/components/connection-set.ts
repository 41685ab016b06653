import { limits } from '@penstock/wire'

/**
 * A set is the connections that were created together, from one source to several destinations. A tag holds it together, so
 * it survives what tags survive: renaming, deleting and restoring a connection, and configuration as code. A person can
 * take a connection out of the set, or add one, by its tags.
 */

const prefix = 'Set: '

/** The tag of a set. @param taken the tags of the sub-account; the new tag differs from them by more than the letter case */
export function tagOfSet(name: string, taken: readonly string[]): string {
  const keys = new Set(taken.map((tag) => tag.toLowerCase()))
  for (let n = 1; ; n++) {
    const end = n === 1 ? '' : ` ${n}`
    // A comma separates tags in a filter.
    const start = `${prefix}${name.replaceAll(',', ' ')}`
      .replaceAll(/\s+/g, ' ')
      .slice(0, limits.tagLengthMax - end.length)
    const tag = `${start.trim()}${end}`
    if (!keys.has(tag.toLowerCase())) return tag
  }
}

/** The tag among those of a connection that holds its set together. */
export const setTagOf = (tags: readonly string[]): string | undefined =>
  tags.find((tag) => tag.toLowerCase().startsWith(prefix.toLowerCase()))

/** The name of a set, without the prefix of its tag. */
export const nameOfSet = (tag: string): string => tag.slice(prefix.length).trim()
