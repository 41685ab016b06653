import { type Client, type EntryOf, everyPage, type PagedOperationId } from '@penstock/client'

export const pageSize = 500
/** Up to this number of sub-accounts, each is requested separately. Otherwise all are requested. */
const separateAccountsMax = 5
/** How often a list is read again that others change in the meantime. */
const walksMax = 10

/** The part of an entry that identifies it. */
const keyOf = (entry: object): string => {
  const { id, accountId, connectorId, connectionId, configurationId } = entry as Record<string, string | undefined>
  return id ?? connectionId ?? configurationId ?? `${accountId} ${connectorId}`
}

/**
 * Reads a whole list. Entries that are added or removed in the meantime shift later pages, so that an entry could be missed. If
 * the number of entries differs from the total, the list is read again.
 */
export async function readAll<I extends PagedOperationId>(
  client: Client,
  operation: I,
  accountId: string | undefined,
): Promise<EntryOf<I>[]> {
  for (let walk = 1; ; walk++) {
    const entries = new Map<string, EntryOf<I>>()
    const totals = new Set<number>()
    const parameters = { ...(accountId === undefined ? {} : { accountId }), query: { size: pageSize } }
    for await (const page of everyPage(client, operation, ...([parameters] as never))) {
      totals.add((page as unknown as { total: number }).total)
      for (const entry of page.reply as EntryOf<I>[]) entries.set(keyOf(entry as object), entry)
    }
    if (totals.size === 1 && totals.has(entries.size)) return [...entries.values()]
    if (walk === walksMax)
      throw new Error('The service changed during each reading. Retry when fewer people change it.')
  }
}

/** How lists of these sub-accounts are read: each separately, or `undefined` for all together. */
export const scopesFor = (accountIds: readonly string[]): readonly (string | undefined)[] =>
  accountIds.length <= separateAccountsMax ? accountIds : [undefined]
