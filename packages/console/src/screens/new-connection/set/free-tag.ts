import { limits } from '@penstock/wire'
import { readOnce } from '../../../api/queries.ts'
import { nameOfSet, tagOfSet } from '../../../components/connection-set.ts'

/** A tag of a set that no connection of the sub-account has. */
export async function freeTag(accountId: string, name: string): Promise<string> {
  const q = nameOfSet(tagOfSet(name, []))
  const { reply } = await readOnce(
    'listConnectionTags',
    { accountId, query: { q, size: limits.pageSizeMax } },
    { fresh: true },
  )
  return tagOfSet(
    name,
    reply.map(({ tag }) => tag),
  )
}
