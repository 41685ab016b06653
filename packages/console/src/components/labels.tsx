import { Badge, Group, Select } from '@mantine/core'
import { type ConnectionLabels, limits } from '@penstock/wire'
import { useForbidden, useMe } from '../api/me.ts'
import { useRead } from '../api/queries.ts'
import { labels as say } from '../strings/labels.ts'

/** Tags of a connection. */
export function Tags({ tags }: { tags: readonly string[] }) {
  if (tags.length === 0) return null
  return (
    <Group gap={4} mt={4}>
      {tags.map((tag) => (
        <Badge key={tag} variant="light" color="gray" size="sm" tt="none" fw={500} autoContrast>
          {tag}
        </Badge>
      ))}
    </Group>
  )
}

/** People who can be owners, by e-mail address: all that the user can see, and the present owner. */
export function useOwners(owner: ConnectionLabels['owner'] = null): { id: string; value: string; label: string }[] {
  const me = useMe()
  const people = useRead(
    'listUsers',
    { query: { size: limits.pageSizeMax } },
    { keep: true, enabled: useForbidden('listUsers') === undefined },
  )
  const found = people.data?.reply.map(({ id, name, email }) => ({ id, name, email })) ?? []
  const self = me?.kind === 'user' && me.id && me.email ? [{ id: me.id, name: me.name, email: me.email }] : []
  const all = new Map([...self, ...found, ...(owner ? [owner] : [])].map((one) => [one.email, one]))
  return [...all.values()].map(({ id, name, email }) => ({ id, value: email, label: name ?? email }))
}

/** Asks for an owner. An empty value: none. */
export function PickOwner({
  owner,
  value,
  error,
  none = say.noOwner,
  onChange,
}: {
  owner?: ConnectionLabels['owner']
  value: string
  error?: string | undefined
  none?: string
  onChange: (email: string) => void
}) {
  return (
    <Select
      label={say.owner}
      description={say.ownerHelp}
      searchable
      allowDeselect={false}
      nothingFoundMessage={say.noPeople}
      data={[{ value: '', label: none }, ...useOwners(owner)]}
      value={value}
      error={error}
      onChange={(email) => onChange(email ?? '')}
    />
  )
}
