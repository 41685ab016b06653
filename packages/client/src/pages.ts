import type { Client, EntryOf, PagedOperationId, ParametersOf, ResultOf } from './types.ts'

/**
 * Walks a list page by page, from `query.offset` to its end. `query.size` is the size of a page. Lists are newest first, so
 * entries that are created during the walk shift later pages. An entry can then appear twice.
 *
 *     for await (const { reply, total } of everyPage(client, 'listAccounts', { query: { size: 500 } })) …
 */
export async function* everyPage<I extends PagedOperationId>(
  client: Client,
  operation: I,
  ...[parameters]: Arguments<I>
): AsyncGenerator<ResultOf<I>, void, undefined> {
  const { query, ...rest } = (parameters ?? {}) as Partial<ParametersOf<PagedOperationId>>
  const list = client[operation] as unknown as (parameters: object) => Promise<ResultOf<PagedOperationId>>
  for (let offset = query?.offset ?? 0; ; ) {
    const page = await list({ ...rest, query: { ...query, offset } })
    yield page as unknown as ResultOf<I>
    if (page.reply.length === 0 || page.links.next === undefined) return
    offset += page.reply.length
  }
}

/**
 * Walks a list entry by entry, like `everyPage`.
 *
 *     for await (const connection of everyEntry(client, 'listConnections', { accountId })) …
 */
export async function* everyEntry<I extends PagedOperationId>(
  client: Client,
  operation: I,
  ...parameters: Arguments<I>
): AsyncGenerator<EntryOf<I>, void, undefined> {
  for await (const page of everyPage(client, operation, ...parameters)) {
    yield* page.reply as EntryOf<I>[]
  }
}

/** The parameters of the operation; optional if none of them is required. */
type Arguments<I extends PagedOperationId> =
  Record<never, never> extends ParametersOf<I> ? [parameters?: ParametersOf<I>] : [parameters: ParametersOf<I>]
