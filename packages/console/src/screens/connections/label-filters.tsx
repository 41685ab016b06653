import { Select } from '@mantine/core'
import { limits } from '@penstock/wire'
import { useMe } from '../../api/me.ts'
import { useRead } from '../../api/queries.ts'
import { useAddress } from '../../components/address.ts'
import { useOwners } from '../../components/labels.tsx'
import { PickSeveral } from '../../components/pick-several.tsx'
import { labels as say } from '../../strings/labels.ts'

/** Keeps connections that carry all picked tags, and those of an owner. Both are in the address. */
export function LabelFilters({ accountId }: { accountId: string | undefined }) {
  const { value, change } = useAddress()
  const me = useMe()
  const known = useRead('listConnectionTags', { accountId, query: { size: limits.pageSizeMax } }, { keep: true })
  const tags = value('tags') === '' ? [] : value('tags').split(',')
  const all = [...new Set([...(known.data?.reply.map(({ tag }) => tag) ?? []), ...tags])]
  const people = useOwners()
    .filter(({ id }) => id !== me?.id)
    .map(({ id, label }) => ({ value: id, label }))
  const own = me?.kind === 'user' && me.id ? [{ value: me.id, label: say.mine }] : []
  const owners = [{ value: '', label: say.anyOwner }, ...own, { value: 'none', label: say.noOwner }, ...people]
  return (
    <>
      {all.length > 0 && (
        <PickSeveral
          aria-label={say.tags}
          placeholder={tags.length === 0 ? say.anyTags : ''}
          searchable
          clearable
          maxValues={limits.tagsMax}
          data={all}
          value={tags}
          onChange={(next) => change({ tags: next.join(',') })}
          miw={150}
          maw={320}
        />
      )}
      <Select
        aria-label={say.owner}
        searchable
        data={owners}
        value={owners.some((one) => one.value === value('owner')) ? value('owner') : ''}
        onChange={(owner) => change({ owner: owner ?? '' })}
        allowDeselect={false}
        checkIconPosition="right"
        w={160}
      />
    </>
  )
}
