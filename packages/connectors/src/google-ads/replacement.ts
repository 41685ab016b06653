import type { DestinationContext, Json } from '@penstock/connector'
import { listIn, numberIn, objectIn, textIn } from '../platform-api/json.ts'
import { accountName } from './accounts.ts'
import { type DataManager, destinationOf } from './data-manager.ts'

/**
 * Puts the rows of a transfer in the place of a list's earlier members: they are added, and in the end everyone is removed
 * who was added last before the transfer began. The list is never empty in between, and a transfer that fails removes
 * no one. When it began is asked of Google's clock: by one that is ahead, the transfer's own members would be removed.
 */
export class Replacement {
  readonly #dataManager: DataManager
  readonly #startedTime: string
  readonly #lists = new Set<string>()
  #begun: number | undefined

  constructor(
    dataManager: DataManager,
    { deliveryStates, startedTime }: Pick<DestinationContext, 'deliveryStates' | 'startedTime'>,
  ) {
    this.#dataManager = dataManager
    this.#startedTime = startedTime
    for (const { begun, lists } of deliveryStates.map(objectIn)) {
      this.#begun ??= numberIn(begun)
      for (const list of listIn(lists)) if (textIn(list) !== undefined) this.#lists.add(String(list))
    }
  }

  /** To be called before the first member is added. */
  async begin(): Promise<void> {
    if (this.#begun !== undefined) return
    const path = `/${accountName(this.#dataManager.operating)}/userLists`
    const { headers } = await this.#dataManager.ask({ path, query: { pageSize: '1' } })
    const now = Date.parse(headers.get('date') ?? '')
    this.#begun = Number.isNaN(now) ? Date.parse(this.#startedTime) : now
  }

  /** Members were added to a list. A list to which none could be added keeps those that it has. */
  added(list: string): void {
    this.#lists.add(list)
  }

  /** What a writer needs to know after a crash. */
  deliveryState(): { begun?: number; lists: Json[] } {
    return { ...(this.#begun === undefined ? {} : { begun: this.#begun }), lists: [...this.#lists] }
  }

  /** Removes the earlier members. Called again, it removes no one else. */
  async finish(): Promise<void> {
    if (this.#begun === undefined) return
    for (const list of this.#lists) {
      await this.#dataManager.ask({
        method: 'POST',
        path: '/audienceMembers:removeAll',
        body: {
          destinations: [destinationOf(this.#dataManager, list)],
          removeAsOfTime: new Date(this.#begun).toISOString(),
        },
      })
    }
  }
}
