import type { Listing } from '../kit/listing-facts.ts'
import type { Answer } from '../platform-api/call.ts'
import { type JsonObject, listIn, objectIn } from '../platform-api/json.ts'

const pageOf =
  (fields: string) =>
  (after: string | undefined): { path: string; query: Record<string, string | undefined> } => ({
    path: '/me/adaccounts',
    query: { fields, limit: '200', after },
  })
const dataIn = (list: unknown): JsonObject[] => listIn(objectIn(list).data).map(objectIn)

/** The cursor of the page after it, which there is if the answer has its address. */
export function nextCursor({ json }: Answer): unknown {
  const { next, cursors } = objectIn(objectIn(json).paging)
  // A missing cursor is one that cannot be used.
  return next === undefined || next === null ? undefined : (objectIn(cursors).after ?? '')
}

/** The ad accounts on which the user of the token has a role, by their numbers. */
export const adAccounts: Listing = {
  kind: 'account',
  id: /^\d{1,20}$/,
  page: pageOf('account_id,name'),
  found: ({ json }) => dataIn(json).map(({ account_id: id, name }) => ({ id, name })),
  next: nextCursor,
}

/** The datasets of these accounts, which are their pixels. */
export const datasets: Listing = {
  kind: 'object',
  page: pageOf('adspixels.limit(100){id,name}'),
  found: ({ json }) =>
    dataIn(json)
      .flatMap(({ adspixels }) => dataIn(adspixels))
      .map(({ id, name }) => ({ id, name })),
  next: nextCursor,
}
