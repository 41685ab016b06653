import type { Client } from '@penstock/client'
import { persistently } from '../calls.ts'
import type { Applying, Change, Entry, ResourceKind } from '../resource-kind.ts'

/** The own part of a kind of which the service replaces all resources of a sub-account in one call. */
type SetKind<List extends string, Written, Desired extends Entry, State extends Named> = Pick<
  ResourceKind<List, Written, Desired, State>,
  'kind' | 'title' | 'list' | 'plural' | 'schema' | 'parse' | 'write' | 'read' | 'diff'
>

type Named = { readonly accountId: string; readonly name: string }

/**
 * A kind whose resources the service replaces as a whole, and whose names are never changed.
 * @param itemOf a resource as the service accepts it
 * @param set replaces all resources of a sub-account
 */
export function setOfAccount<List extends string, Written, Desired extends Entry, State extends Named, Item>(
  kind: SetKind<List, Written, Desired, State>,
  itemOf: (resource: Desired | State) => Item,
  set: (client: Client, accountId: string, items: Item[]) => Promise<unknown>,
): ResourceKind<List, Written, Desired, State> {
  /** Sets the existing resources with the changes, of each sub-account in one call. */
  const setAll = async (changes: readonly Change<Desired, State>[], applying: Applying): Promise<void> => {
    const { client } = applying
    const failing = [...Map.groupBy(changes, ({ account }) => account)].map(async ([account, some]) => {
      const accountId = some[0]?.existing?.accountId ?? applying.accountIds.get(account ?? '')
      const open = some.filter((change) => !applying.hasFailed(change) && !applying.lacks(change))
      if (accountId === undefined || open.length === 0) return
      try {
        const now = await kind.read(client, accountId, {})
        const items = new Map(now.map((resource) => [resource.name, itemOf(resource)]))
        for (const { action, name, desired } of open) {
          if (action === 'delete') items.delete(name)
          else if (desired) items.set(name, itemOf(desired))
        }
        await persistently(() => set(client, accountId, [...items.values()]))
      } catch (error) {
        for (const change of open) applying.fail(change, error)
      }
    })
    await Promise.all(failing)
  }
  return {
    ...kind,
    key: 'name',
    ofOrganization: false,
    destroyedBy: 'allowDestroy',
    nameOf: ({ name }) => name,
    identifierOf: ({ accountId, name }) => `${accountId}/${name}`,
    formerNames: async () => [],
    create: { stage: 'connectors', runAll: setAll },
    update: { stage: 'connectors', runAll: setAll },
    // Once no connection needs it.
    remove: { stage: 'unused connectors', runAll: setAll },
  }
}
