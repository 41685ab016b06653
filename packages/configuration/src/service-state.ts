import type { Client } from '@penstock/client'
import { withBound } from './calls.ts'
import { inAccounts, kinds, owned, type ServiceState } from './kinds.ts'
import { readAll, scopesFor } from './read-all.ts'
import { createRenames } from './renames.ts'
import { type AccountState, type Renames, type ResourceKind, statesIn } from './resource-kind.ts'

/**
 * Reads the configuration of a service, in a number of calls that hardly depends on its size.
 * @param choose chooses the sub-accounts; the others are in the result without their contents
 */
export async function readState(
  client: Client,
  choose: (accounts: readonly AccountState[], renames: Renames) => AccountState[] | Promise<AccountState[]> = (all) => [
    ...all,
  ],
): Promise<ServiceState> {
  const accounts = await readAll(client, 'listAccounts', undefined)
  const renames = createRenames(client)
  const chosen = await choose(accounts, renames)
  const scopes = chosen.length < accounts.length ? scopesFor(chosen.map(({ id }) => id)) : [undefined]
  const read = async (some: readonly ResourceKind[], accountId: string | undefined) => {
    const lists: Record<string, object[]> = {}
    for (const kind of some) lists[kind.list] = await kind.read(client, accountId, lists)
    return lists
  }
  const parts = [await read(owned, undefined), ...(await withBound(scopes, (accountId) => read(inAccounts, accountId)))]
  const all = kinds.map((kind) => [kind.list, parts.flatMap((part) => statesIn(kind, part))] as const)
  const byAccount = all.map(
    ([list, states]) => [list, Map.groupBy(states as { accountId: string | null }[], (one) => one.accountId)] as const,
  )
  return {
    ...Object.fromEntries(all),
    renames,
    accounts: accounts.map(({ id, name, enabled }) => ({
      id,
      name,
      enabled,
      ...Object.fromEntries(byAccount.map(([list, states]) => [list, states.get(id) ?? []])),
    })),
  } as unknown as ServiceState
}
