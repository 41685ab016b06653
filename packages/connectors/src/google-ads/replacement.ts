import type { DestinationContext } from '@penstock/connector'
import type { PlatformClient } from '../platform-api/client.ts'
import { listIn, numberIn, objectIn, textIn } from '../platform-api/json.ts'
import { type Accounts, accountName, destinationOf } from './data-manager.ts'

/**
 * Puts the rows of a transfer in the place of a list's earlier members: they are added, and in the end everyone is removed
 * who was added last before the transfer began. The list is never empty in between, and a transfer that fails removes
 * no one. When it began is asked of Google's clock: by one that is ahead, the transfer's own members would be removed.
 */
export function openReplacement(
  client: PlatformClient,
  accounts: Accounts,
  { deliveryStates, startedTime }: Pick<DestinationContext, 'deliveryStates' | 'startedTime'>,
) {
  const earlier = deliveryStates.map(objectIn)
  const lists = new Set(earlier.flatMap((state) => listIn(state.lists).flatMap((list) => textIn(list) ?? [])))
  let begun = earlier.map((state) => numberIn(state.begun)).find((ms) => ms !== undefined)
  return {
    /** To be called before the first member is added. */
    async begin(): Promise<void> {
      if (begun !== undefined) return
      const path = `/${accountName(accounts.operating)}/userLists`
      const { headers } = await client.askObject({ path, query: { pageSize: '1' } })
      const now = Date.parse(headers.get('date') ?? '')
      begun = Number.isNaN(now) ? Date.parse(startedTime) : now
    },
    /** Records that members were added to a list. A list without added members keeps its current members. */
    added: (list: string) => lists.add(list),
    /** The state that a writer needs after a crash. */
    deliveryState: () => ({ ...(begun !== undefined && { begun }), lists: [...lists] }),
    /** Removes the earlier members. Called again, it removes no one else. */
    async finish(): Promise<void> {
      if (begun === undefined) return
      const removeAsOfTime = new Date(begun).toISOString()
      for (const list of lists) {
        const body = { destinations: [destinationOf(accounts, list)], removeAsOfTime }
        await client.askObject({ method: 'POST', path: '/audienceMembers:removeAll', body })
      }
    },
  }
}
