import { SetConnectionLabels } from '@penstock/wire'
import { persistently } from '../../calls.ts'
import { ChangedMeanwhile } from '../../failures.ts'
import { of } from '../../schema-parts.ts'
import { type Attribute, changed } from './attribute.ts'

type Labels = {
  tags?: string[] | undefined
  /** An e-mail address; empty if there is no owner. */
  owner?: string | undefined
}

const key = (tags: readonly string[]) => [...tags].sort().join(',')

/** Tags, which are compared without their order, and the owner. */
export const labels: Attribute<Labels> = {
  schema: {
    tags: { ...of(SetConnectionLabels, 'tags'), description: 'All of its tags. Omitted: no change' },
    owner: {
      type: 'string',
      description: 'E-mail address of the person who is responsible for it, empty for nobody. Omitted: no change',
    },
  },
  parse: ({ tags, owner }) => ({ tags: tags?.map((tag) => tag.trim()), owner: owner?.trim().toLowerCase() }),
  write: ({ tags = [], owner }) => ({ ...(tags.length > 0 ? { tags } : {}), ...(owner ? { owner: owner.email } : {}) }),
  compare({ tags, owner }, existing) {
    const before = { tags: existing?.tags ?? [], owner: existing?.owner?.email ?? '' }
    return [
      ...(tags !== undefined && key(tags) !== key(before.tags) ? [changed('tags', existing, before.tags, tags)] : []),
      ...(owner !== undefined && owner !== before.owner.toLowerCase()
        ? [changed('owner', existing, before.owner, owner)]
        : []),
    ]
  },
  async set(at, { tags, owner }, existing, { client }) {
    if (existing) {
      const { reply } = await persistently(() => client.getConnectionLabels(at))
      const isSame = String(reply.tags) === String(existing.tags) && reply.owner?.id === existing.owner?.id
      const isDone =
        (tags === undefined || String(reply.tags) === String(tags)) && (owner ?? '') === (reply.owner?.email ?? '')
      if (!isSame && !isDone) throw new ChangedMeanwhile([{ field: 'tags' }, { field: 'owner' }])
    }
    const body = {
      ...(tags === undefined ? {} : { tags: [...tags] }),
      ...(owner === undefined ? {} : { ownerEmail: owner === '' ? null : owner }),
    }
    await persistently(() => client.setConnectionLabels({ ...at, body }))
  },
}
