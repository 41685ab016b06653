import type { Client } from '@penstock/client'
import { didYouMean } from '@penstock/wire'
import { persistently } from '../calls.ts'
import { ChangedMeanwhile } from '../failures.ts'
import { readAll } from '../read-all.ts'
import {
  type Applying,
  type Entry,
  entriesIn,
  once,
  type Planning,
  type Scope,
  statesIn,
  whose,
} from '../resource-kind.ts'
import { type FieldChange, isSame } from '../values.ts'
import { transferGroup } from './transfer-group.ts'

/** The connections that one runs after, and its group, which are set together. */

type Wanted = {
  /** Names of connections of the same sub-account. */
  readonly runAfter?: readonly string[] | undefined
  /** Empty: none. */
  readonly group?: string | undefined
}
type Existing = {
  readonly runAfter: readonly string[]
  readonly group: string | null
  /** The names of `runAfter`; the identifier of one that was deleted. */
  readonly after: readonly string[]
}

const sorted = (names: readonly string[] = []) => [...new Set(names)].sort()

/** Changes that a plan shows; what a file leaves out stays. Names that do not exist are problems. */
export function compareConditions(
  { at, ...wanted }: Wanted & Entry,
  existing: Existing | undefined,
  scope: Scope,
  names: readonly string[],
  { problems }: Planning,
): FieldChange[] {
  const { runAfter, group } = wanted
  for (const [index, name] of (runAfter ?? []).entries())
    if (!names.includes(name)) {
      const message = `There is no connection ${name}${whose(scope.account)}.${didYouMean(name, names)}`
      problems.push({ message, at: at('runAfter', index) })
    }
  const groups = [entriesIn(transferGroup, scope.desired), statesIn(transferGroup, scope.existing ?? {})].flatMap(
    (some) => some.map((one) => one.name),
  )
  if (group && !groups.includes(group)) {
    const message = `There is no group ${group}${whose(scope.account)}: list it under its groups.${didYouMean(group, groups)}`
    problems.push({ message, at: at('group') })
  }
  const from = (value: unknown) => (existing ? { from: value } : {})
  const before = { runAfter: sorted(existing?.after), group: existing?.group ?? '' }
  return [
    ...(runAfter !== undefined && !isSame(sorted(runAfter), before.runAfter)
      ? [{ field: 'runAfter', ...from(before.runAfter), to: runAfter }]
      : []),
    ...(group !== undefined && group !== before.group ? [{ field: 'group', ...from(before.group), to: group }] : []),
  ]
}

/** The identifiers of the connections of sub-accounts, read once when the first one is needed. */
const idsOf = once((_: Applying) => new Map<string, Promise<Map<string, string[]>>>())
const readIds = async (client: Client, accountId: string) => {
  const all = await readAll(client, 'listConnectionDetails', accountId)
  const named = Map.groupBy(all, ({ name }) => name)
  return new Map([...named].map(([name, some]) => [name, some.map(({ id }) => id)]))
}

/**
 * Sets both. They have no version: the state is compared with what the plan found right before.
 * @throws text if a name is not that of one connection
 */
export async function setConditions(
  { accountId, id }: { readonly accountId: string; readonly id: string },
  { runAfter, group }: Wanted,
  existing: Existing | undefined,
  applying: Applying,
): Promise<void> {
  const { client } = applying
  const known = idsOf(applying)
  if (!known.has(accountId)) known.set(accountId, readIds(client, accountId))
  const ids = await known.get(accountId)
  const wanted = {
    runAfter: runAfter
      ? sorted(runAfter).map((name) => {
          const [found, twin] = ids?.get(name) ?? []
          if (found === undefined || twin !== undefined) throw `${name} is not the name of one connection.`
          return found
        })
      : [...(existing?.runAfter ?? [])],
    group: (group ?? existing?.group) || null,
  }
  if (existing) {
    const { reply } = await persistently(() => client.getRunConditions({ accountId, id }))
    const now = { runAfter: reply.runAfter.map(({ connectionId }) => connectionId), group: reply.group }
    const equals = (other: typeof now) =>
      isSame(sorted(now.runAfter), sorted(other.runAfter)) && now.group === other.group
    if (!equals({ runAfter: [...existing.runAfter], group: existing.group }) && !equals(wanted))
      throw new ChangedMeanwhile([{ field: 'runAfter' }, { field: 'group' }])
  }
  await persistently(() => client.setRunConditions({ accountId, id, body: wanted }))
}
