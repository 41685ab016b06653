import type { OperationId } from '@penstock/wire'
import type { QueryClient } from '@tanstack/react-query'

/** Shows the reply of a write in what was read of the same resource, until it is read again. */

/** Writes whose reply is the reply of a read of the same resource. */
const readsOf: Partial<Record<OperationId, OperationId>> = {
  setSchedule: 'getSchedule',
  setDrift: 'getDrift',
  setConnectionRules: 'getConnectionRules',
  setRunConditions: 'getRunConditions',
}

type Place = { readonly accountId?: unknown; readonly id?: unknown }
type Item = Readonly<Record<string, unknown>>
type Result = { readonly reply: unknown }

/** @param parameters of the write @param result its answer */
export function showWritten(queries: QueryClient, operation: OperationId, parameters: unknown, result: unknown): void {
  const written = isResult(result) ? result.reply : undefined
  if (!isItem(written)) return
  const read = readsOf[operation]
  queries.setQueriesData<unknown>(
    { predicate: ({ queryKey: [of, at] }) => of === read && isSamePlace(at as Place, parameters as Place) },
    (before: unknown) => (isResult(before) ? { ...before, reply: written } : before),
  )
  if (typeof written.id !== 'string') return
  queries.setQueriesData<unknown>({}, (before: unknown) => {
    if (!isResult(before)) return before
    const { reply } = before
    const after = Array.isArray(reply) ? withIn(reply, written) : isItem(reply) ? merged(reply, written) : reply
    return after === reply ? before : { ...before, reply: after }
  })
}

const isSamePlace = (one: Place, other: Place): boolean => one.accountId === other.accountId && one.id === other.id
const isItem = (value: unknown): value is Item => typeof value === 'object' && value !== null && !Array.isArray(value)
const isResult = (value: unknown): value is Result => isItem(value) && 'reply' in value

function withIn(list: readonly unknown[], written: Item): readonly unknown[] {
  const after = list.map((one) => (isItem(one) ? merged(one, written) : one))
  return after.some((one, at) => one !== list[at]) ? after : list
}

/** The item with what was written of it: a shorter form of a resource leaves the other keys as they are. */
function merged(item: Item, written: Item): Item {
  if (item.id !== written.id) return item
  return Object.fromEntries(Object.entries(item).map(([key, value]) => [key, key in written ? written[key] : value]))
}
