import type { SavedFilter } from '@penstock/wire'
import { pathOf } from '../../shell/account.ts'

/** The parts of the address of the list that a filter keeps. */
export const filterKeys = ['q', 'status', 'tags', 'owner', 'sort', 'last'] as const

/** Where a saved filter leads. Only what the list knows is taken from it. */
export function pathOfFilter({ accountId, query }: SavedFilter): string {
  const saved = new URLSearchParams(query)
  const known = new URLSearchParams(filterKeys.flatMap((key) => (saved.get(key) ? [[key, saved.get(key) ?? '']] : [])))
  return `${pathOf(accountId ?? undefined, 'connections')}?${known}`
}
