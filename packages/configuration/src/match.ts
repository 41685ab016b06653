import type { Locate } from './desired.ts'
import { describePosition, type Problem } from './problems.ts'

/** Finds what the entries of the files are about. */

export type Named = { readonly id: string; readonly name: string }
export type Entry = {
  readonly name: string
  readonly was: readonly string[]
  readonly id?: string | undefined
  readonly at: Locate
}

/**
 * Finds what each entry of the files is about: by its identifier, else by its name, else by a name that it had before and that
 * no other entry has.
 */
export function matchAll<E extends Entry, T extends Named>(
  entries: readonly E[],
  there: readonly T[],
  describe: (entry: E) => string,
  problems: Problem[],
): Map<E, T> {
  const found = new Map<E, T>()
  const taken = new Set<T>()
  const byId = new Map(there.map((one) => [one.id, one]))
  const byName = Map.groupBy(there, ({ name }) => name)
  const take = (entry: E, one: T) => {
    found.set(entry, one)
    taken.add(one)
  }
  for (const entry of entries) {
    const { id, at } = entry
    if (id === undefined) continue
    const one = byId.get(id)
    if (one) take(entry, one)
    else
      problems.push({
        message: `There is no ${describe(entry)} with the identifier ${id} here. Identifiers are different in every service: give it a name of its own, and remove id.`,
        at: at('id'),
      })
  }
  const takeNamed = (entry: E, names: readonly string[]) => {
    const free = names.flatMap((name) => byName.get(name) ?? []).filter((one) => !taken.has(one))
    if (free.length > 1)
      problems.push({
        message: `There are ${free.length} that could be the ${describe(entry)}: ${free.map(({ id, name }) => `${id} (${name})`).join(', ')}. Rename all but one of them, or name each by its id.`,
        at: entry.at('name'),
      })
    if (free[0]) take(entry, free[0])
  }
  const open = () => entries.filter((entry) => entry.id === undefined && !found.has(entry))
  for (const entry of open()) if (byName.has(entry.name)) takeNamed(entry, [entry.name])
  for (const entry of open()) if (entry.was.length > 0) takeNamed(entry, entry.was)
  return found
}

/** Two entries of one name are allowed where their identifiers differ. */
export function refuseTwins<E extends Pick<Entry, 'name' | 'id' | 'at'>>(
  entries: readonly E[],
  describe: (entry: E) => string,
  problems: Problem[],
): void {
  for (const [, group] of Map.groupBy(entries, ({ name }) => name)) {
    const [first, ...others] = group
    if (!first || others.length === 0) continue
    const ids = group.map(({ id }) => id)
    if (ids.every((id) => id !== undefined) && new Set(ids).size === ids.length) continue
    const where = describePosition(first.at())
    for (const other of others)
      problems.push({ message: `The ${describe(other)} is at ${where}, too: remove one of both.`, at: other.at() })
  }
}
