import type { Client } from '@penstock/client'
import { didYouMean, limits } from '@penstock/wire'
import { persistently } from '../../calls.ts'
import { ChangedMeanwhile } from '../../failures.ts'
import { readAll } from '../../read-all.ts'
import { type Applying, entriesIn, listIn, once, type Scope, statesIn, whose } from '../../resource-kind.ts'
import { list, name } from '../../schema-parts.ts'
import { isSame } from '../../values.ts'
import { transferGroup } from '../transfer-group.ts'
import { type Attribute, changed } from './attribute.ts'

type Conditions = {
  /** Names of connections of the same sub-account. */
  runAfter?: string[] | undefined
  /** Empty if the connection is in no group. */
  group?: string | undefined
}

const sorted = (names: readonly string[] = []) => [...new Set(names)].sort()

/** The connections that a connection runs after, and its group. Names that do not exist are problems. */
export const runConditions: Attribute<Conditions> = {
  schema: {
    runAfter: {
      ...list(name, 'Names of the connections of the sub-account after which it runs. Omitted: no change'),
      maxItems: limits.runAfterMax,
    },
    group: { type: 'string', description: 'Name of its group, empty for no group. Omitted: no change' },
  },
  parse: ({ runAfter, group }) => ({ runAfter: runAfter?.map((one) => one.trim()), group: group?.trim() }),
  write: ({ after, group }) => ({ ...(after.length > 0 ? { runAfter: [...after] } : {}), ...(group ? { group } : {}) }),
  compare({ at, runAfter, group }, existing, scope, { problems }) {
    const names = connectionsOf(scope)
    for (const [index, name] of (runAfter ?? []).entries())
      if (!names.includes(name)) {
        const message = `The connection ${name}${whose(scope.account)} does not exist.${didYouMean(name, names)}`
        problems.push({ message, at: at('runAfter', index) })
      }
    const groups = [entriesIn(transferGroup, scope.desired), statesIn(transferGroup, scope.existing ?? {})].flatMap(
      (some) => some.map((one) => one.name),
    )
    if (group && !groups.includes(group)) {
      const message = `The group ${group}${whose(scope.account)} does not exist. List it under its groups.${didYouMean(group, groups)}`
      problems.push({ message, at: at('group') })
    }
    const before = { runAfter: sorted(existing?.after), group: existing?.group ?? '' }
    return [
      ...(runAfter !== undefined && !isSame(sorted(runAfter), before.runAfter)
        ? [changed('runAfter', existing, before.runAfter, runAfter)]
        : []),
      ...(group !== undefined && group !== before.group ? [changed('group', existing, before.group, group)] : []),
    ]
  },
  async set(at, { runAfter, group }, existing, applying) {
    const { client } = applying
    const known = idsOf(applying)
    if (!known.has(at.accountId)) known.set(at.accountId, readIds(client, at.accountId))
    const ids = await known.get(at.accountId)
    const wanted = {
      runAfter: runAfter
        ? sorted(runAfter).map((name) => {
            const [found, twin] = ids?.get(name) ?? []
            if (found === undefined || twin !== undefined) throw `${name} is the name of no connection, or of several.`
            return found
          })
        : [...(existing?.runAfter ?? [])],
      group: (group ?? existing?.group) || null,
    }
    if (existing) {
      const { reply } = await persistently(() => client.getRunConditions(at))
      const now = { runAfter: reply.runAfter.map(({ connectionId }) => connectionId), group: reply.group }
      const equals = (other: typeof now) =>
        isSame(sorted(now.runAfter), sorted(other.runAfter)) && now.group === other.group
      if (!equals({ runAfter: [...existing.runAfter], group: existing.group }) && !equals(wanted))
        throw new ChangedMeanwhile([{ field: 'runAfter' }, { field: 'group' }])
    }
    await persistently(() => client.setRunConditions({ ...at, body: wanted }))
  },
}

const connectionsOf = ({
  desired,
  existing = {},
}: Pick<Scope, 'desired'> & { readonly existing?: object | undefined }) =>
  [desired, existing].flatMap((lists) =>
    (listIn<{ readonly name: string }>({ list: 'connections' }, lists) ?? []).map((one) => one.name),
  )

/** The identifiers of the connections of sub-accounts, read once when the first one is needed. */
const idsOf = once((_: Applying) => new Map<string, Promise<Map<string, string[]>>>())
const readIds = async (client: Client, accountId: string) => {
  const all = await readAll(client, 'listConnectionDetails', accountId)
  const named = Map.groupBy(all, ({ name }) => name)
  return new Map([...named].map(([name, some]) => [name, some.map(({ id }) => id)]))
}
