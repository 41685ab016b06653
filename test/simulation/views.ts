/** The part of a response that the model covers, and the pages of lists. */

type Payload = Record<string, unknown>

/** Some keys of an answer. */
export function pick(payload: unknown, ...keys: string[]): Payload {
  return Object.fromEntries(keys.map((key) => [key, (payload as Payload)[key]]))
}

const side = (payload: unknown) => pick(payload, 'configured', 'connectorId', 'connectorName')

export const shows = {
  account: (payload: unknown): Payload => pick(payload, 'id', 'name', 'enabled', 'connections', 'volume'),
  connection: (payload: unknown): Payload => ({
    ...pick(payload, 'id', 'accountId', 'name', 'status', 'deleted', 'enabled', 'editable'),
    ...pick(payload, 'totalVolume', 'usedVolume', 'monthlyVolume'),
    src: side((payload as Payload).src),
    dest: side((payload as Payload).dest),
  }),
  added: (payload: unknown): Payload =>
    pick(payload, 'connectorId', 'name', 'configured', 'srcConnections', 'destConnections'),
}

/** Newest first, ties by identifier, from `offset` on. */
export function page<T extends { order: number; id: string }>(
  found: readonly T[],
  { size = 50, offset = 0 }: Readonly<Record<string, unknown>> = {},
): { entries: T[]; total: number } {
  const inOrder = [...found].sort((a, b) => b.order - a.order || (a.id < b.id ? 1 : -1))
  return { entries: inOrder.slice(Number(offset), Number(offset) + Number(size)), total: found.length }
}
