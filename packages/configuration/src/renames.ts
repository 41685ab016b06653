import { type Client, everyPage } from '@penstock/client'
import { persistently, withBound } from './calls.ts'
import { isRefused } from './failures.ts'
import { pageSize } from './read-all.ts'
import {
  type AuditedName,
  type Entry,
  type ManagedKind,
  once,
  type Planning,
  type Renames,
  whose,
} from './resource-kind.ts'

/** Finds resources that were renamed by hand: the service knows the earlier names of an identifier. */

/** The events that are read of each action, the newest ones. */
const eventsMax = 20_000

/** Reads the audit log of a service, each action once. */
export function createRenames(client: Client): Renames {
  const read = async ({ action, key, idOf }: AuditedName) => {
    const names = new Map<string, string[]>()
    let events = 0
    for await (const { reply } of everyPage(client, 'listAudit', { query: { action, size: pageSize } })) {
      for (const { targetId, before, details, outcome } of reply) {
        const id = idOf ? idOf(details ?? {}) : targetId
        const name = before?.[key]
        if (outcome !== 'done' || typeof id !== 'string' || typeof name !== 'string') continue
        names.set(id, [...(names.get(id) ?? []), name])
      }
      events += reply.length
      if (events >= eventsMax) break
    }
    return names
  }
  return once((audited: AuditedName) =>
    persistently(() => read(audited)).catch((error) => {
      if (isRefused(error, 'forbidden')) return undefined
      throw error
    }),
  )
}

/** A resource that an entry could refer to, and its earlier names. */
type Former<State> = { readonly one: State; readonly names: readonly string[] | undefined }

/**
 * Adds resources that were renamed by hand to `matched`. Without it, an entry would create a second resource next to the renamed
 * one.
 * @param there the resources in which entries without a match are searched
 */
export async function matchRenamed<E extends Entry, S extends object>(
  kind: Pick<
    ManagedKind<E, S>,
    'title' | 'nameOf' | 'nameFrom' | 'audited' | 'formerNames' | 'couldBe' | 'identifierOf'
  >,
  entries: readonly E[],
  there: readonly S[],
  matched: Map<E, S>,
  account: string | null,
  { problems, notes, state }: Pick<Planning, 'problems' | 'notes' | 'state'>,
): Promise<void> {
  const { title, audited, formerNames, couldBe = () => true, identifierOf, nameFrom = (name) => name } = kind
  const taken = new Set(matched.values())
  const open = entries.filter((entry) => entry.id === undefined && !matched.has(entry))
  const candidates = there.filter((one) => !taken.has(one) && open.some((entry) => couldBe(entry, one)))
  if (candidates.length === 0) return
  const inLog = audited && (await state.renames(audited))
  const former = await withBound(candidates, async (one): Promise<Former<S>> => {
    if (formerNames) return { one, names: await formerNames(one) }
    const names = inLog && (inLog.get(identifierOf(one)) ?? [])
    return { one, names: names?.map((name) => nameFrom(name, one)) }
  })
  for (const entry of open) {
    const possible = former.filter(({ one }) => !taken.has(one) && couldBe(entry, one))
    const found = possible.filter(({ names }) => names?.includes(entry.name)).map(({ one }) => one)
    const [first] = found
    const what = `${title} ${entry.written ?? entry.name}${whose(account)}`
    if (!first) {
      if (possible.some(({ names }) => names === undefined))
        notes.push(
          `The ${what} will be created. An existing resource may have been renamed by hand: to check this, the credentials need the scope audit:read.`,
        )
    } else if (found.length > 1) {
      const list = found.map((one) => `${identifierOf(one)} (${kind.nameOf(one)})`).join(', ')
      const message = `Several resources had the name of the ${what}: ${list}. Add id to the entry.`
      problems.push({ message, at: entry.at('name') })
    } else {
      matched.set(entry, first)
      taken.add(first)
      notes.push(
        `The ${what} was renamed to ${kind.nameOf(first)}. To keep this name, write it in the file. To create another resource with the old name, add an entry for the renamed one first.`,
      )
    }
  }
}
