import { describePosition, type Problem } from './problems.ts'
import { type Entry, type ManagedKind, whose } from './resource-kind.ts'

/** Finds the resources that the entries of the files refer to. */

/** Names an entry in a problem. */
const describe = ({ title }: Pick<ManagedKind, 'title'>, { name, written = name }: Entry, account: string | null) =>
  `${title} ${written}${whose(account)}`

const idOf = (state: object) => (state as { id?: string }).id

/**
 * Finds the resource of each entry of the files: by its identifier, or else by its name, or else by an earlier name that no other
 * entry has.
 */
export function matchAll<E extends Entry, T extends object>(
  kind: Pick<ManagedKind<E, T>, 'title' | 'nameOf'>,
  entries: readonly E[],
  there: readonly T[],
  account: string | null,
  problems: Problem[],
): Map<E, T> {
  const found = new Map<E, T>()
  const taken = new Set<T>()
  const byId = new Map(there.map((one) => [idOf(one), one]))
  const byName = Map.groupBy(there, (one) => kind.nameOf(one))
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
        message: `This service has no ${describe(kind, entry, account)} with the identifier ${id}. Identifiers differ between services: choose a unique name, and remove id.`,
        at: at('id'),
      })
  }
  const takeNamed = (entry: E, names: readonly string[]) => {
    const free = names.flatMap((name) => byName.get(name) ?? []).filter((one) => !taken.has(one))
    if (free.length > 1)
      problems.push({
        message: `Several resources match the ${describe(kind, entry, account)}: ${free.map((one) => `${idOf(one)} (${kind.nameOf(one)})`).join(', ')}. Rename all but one, or add id to the entry.`,
        at: entry.at('name'),
      })
    if (free[0]) take(entry, free[0])
  }
  const open = () => entries.filter((entry) => entry.id === undefined && !found.has(entry))
  for (const entry of open()) if (byName.has(entry.name)) takeNamed(entry, [entry.name])
  for (const entry of open()) if (entry.was.length > 0) takeNamed(entry, entry.was)
  return found
}

/** Two entries can have the same name if their identifiers differ. */
export function refuseTwins(
  kind: Pick<ManagedKind, 'title'>,
  entries: readonly Entry[],
  account: string | null,
  problems: Problem[],
): void {
  for (const [first, ...others] of Map.groupBy(entries, ({ name }) => name).values()) {
    if (!first || others.length === 0) continue
    const ids = [first, ...others].map(({ id }) => id)
    if (ids.every((id) => id !== undefined) && new Set(ids).size === ids.length) continue
    const where = describePosition(first.at())
    for (const other of others)
      problems.push({
        message: `The ${describe(kind, other, account)} is also at ${where}. Remove one of them.`,
        at: other.at(),
      })
  }
}
