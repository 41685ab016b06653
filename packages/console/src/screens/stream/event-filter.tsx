import { Group, SegmentedControl, TextInput } from '@mantine/core'
import { useDebouncedCallback } from '@mantine/hooks'
import { limits, type StreamOutcome, streamOutcomes } from '@penstock/wire'
import { IconSearch } from '@tabler/icons-react'
import { useState } from 'react'
import { streams as say } from '../../strings/streams.ts'

const waitMs = 300
const all = 'all'

/** Which events of a stream are listed. */
export type EventFilter = { readonly outcome?: StreamOutcome; readonly q?: string }
export const noFilter: EventFilter = {}

/** A search and a choice of results above the newest events. The text is not in the address: it can be about a person. */
export function FilterEvents({
  filter,
  mayShow,
  onFilter,
}: {
  filter: EventFilter
  /** Whether values are shown, and so are searched. */
  mayShow: boolean
  onFilter: (filter: EventFilter) => void
}) {
  const [text, setText] = useState(filter.q ?? '')
  const { outcome } = filter
  const search = useDebouncedCallback((typed: string) => {
    const q = typed.trim()
    onFilter({ ...(outcome && { outcome }), ...(q !== '' && { q }) })
  }, waitMs)
  return (
    <Group gap="sm">
      <TextInput
        type="search"
        size="xs"
        aria-label={say.search}
        placeholder={say.searchHelp(mayShow)}
        value={text}
        maxLength={limits.filterLengthMax}
        leftSection={<IconSearch size={16} aria-hidden />}
        onChange={({ currentTarget: { value } }) => {
          setText(value)
          search(value)
        }}
        style={{ flex: '1 1 14rem' }}
      />
      <SegmentedControl
        size="xs"
        aria-label={say.outcomes}
        value={outcome ?? all}
        onChange={(value) => {
          const { outcome: _, ...rest } = filter
          onFilter(value === all ? rest : { ...rest, outcome: value as StreamOutcome })
        }}
        data={[all, ...streamOutcomes].map((value) => ({ value, label: say.outcome[value as typeof all] }))}
      />
    </Group>
  )
}
