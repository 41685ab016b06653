import { MultiSelect } from '@mantine/core'
import { useDebouncedValue } from '@mantine/hooks'
import { limits } from '@penstock/wire'
import { useState } from 'react'
import { useRead } from '../../api/queries.ts'
import { alerts as say } from '../../strings/alerts.ts'

const shown = 20
const waitMs = 200

/** Asks for some connections, of a sub-account or of the organization; none are all. */
export function PickConnections({
  accountId,
  value,
  error,
  onChange,
}: {
  accountId: string | undefined
  value: readonly string[]
  error: string | undefined
  onChange: (connectionIds: readonly string[]) => void
}) {
  const [text, setText] = useState('')
  const [q] = useDebouncedValue(text.trim(), waitMs)
  const found = useRead('listConnections', { accountId, query: { q: q || undefined, size: shown } }, { keep: true })
  // A picked one has a name, whatever is searched for now.
  const [names, setNames] = useState<Readonly<Record<string, string>>>({})
  const options = new Map(value.map((id) => [id, names[id] ?? id]))
  for (const { id, name, deleted } of found.data?.reply ?? []) if (!deleted) options.set(id, name)
  const matches = new Set(found.data?.reply.map(({ id }) => id))
  return (
    <MultiSelect
      label={say.connections}
      description={say.connectionsHelp}
      placeholder={value.length === 0 ? say.connectionsSearch : ''}
      searchable
      hidePickedOptions
      maxValues={limits.alertConnectionsMax}
      data={[...options].map(([id, label]) => ({ value: id, label }))}
      // The service has searched already.
      filter={({ options }) => options.filter((option) => 'value' in option && matches.has(option.value))}
      value={[...value]}
      onChange={(ids) => {
        setNames(Object.fromEntries(ids.map((id) => [id, options.get(id) ?? id])))
        onChange(ids)
      }}
      searchValue={text}
      onSearchChange={setText}
      nothingFoundMessage={say.connectionsNone}
      error={error}
    />
  )
}
