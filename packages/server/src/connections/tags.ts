import { limits } from '@penstock/wire'
import { refuse } from '../refusal.ts'

/** A tag in the form in which tags are compared: in lower case. */
export const keyOfTag = (tag: string): string => tag.trim().toLowerCase()

/**
 * Tags of a filter, in the form in which tags are compared. Null filters nothing. Refuses with `invalid_request` if there are
 * more than `limits.tagsMax`.
 */
export function readTagFilter(tags: string | undefined): readonly string[] | null {
  const keys = [...new Set((tags ?? '').split(',').map(keyOfTag))].filter((key) => key !== '')
  if (keys.length > limits.tagsMax)
    refuse('invalid_request', [{ field: 'query.tags', message: `has at most ${limits.tagsMax} tags` }])
  return keys.length === 0 ? null : keys
}
