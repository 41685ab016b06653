import { Badge, Button, Group, Stack, Text } from '@mantine/core'
import type { EventStream, StreamEvent } from '@penstock/wire'
import { useMemo, useState } from 'react'
import { count } from '../../components/numbers.ts'
import { Section } from '../../components/section.tsx'
import { streams as say } from '../../strings/streams.ts'
import { examplesOf } from './examples.ts'

const shownMax = 12

/** The columns that were seen in the events of a stream, with the kinds of their values, and examples from the newest events. */
export function ColumnsSeen({ columns, events }: Pick<EventStream, 'columns'> & { events: readonly StreamEvent[] }) {
  const [showsAll, setShowsAll] = useState(false)
  const examples = useMemo(() => examplesOf(events), [events])
  if (columns.length === 0) return null
  const isMixed = columns.some(({ kinds }) => kinds.length > 1)
  const exampleOf = (name: string) => {
    const found = examples.columns.get(name)
    return examples.events === 0
      ? undefined
      : [say.share(found?.events ?? 0, examples.events), ...(found?.values ?? [])].join(' · ')
  }
  return (
    <Section title={say.columns} note={count(columns.length)} help={isMixed ? say.mixed : undefined} region>
      <Stack gap="xs">
        {columns.slice(0, showsAll ? undefined : shownMax).map(({ name, kinds }) => (
          <Group key={name} justify="space-between" gap="sm" wrap="nowrap" align="flex-start">
            <div style={{ minWidth: 0, overflowWrap: 'anywhere' }}>
              <Text size="sm">{name}</Text>
              <Text size="xs" c="dimmed">
                {exampleOf(name)}
              </Text>
            </div>
            <Badge
              variant="light"
              color={kinds.length > 1 ? 'yellow' : 'gray'}
              tt="none"
              fw={500}
              style={{ flexShrink: 0 }}
            >
              {say.kinds(kinds)}
            </Badge>
          </Group>
        ))}
        {columns.length > shownMax && (
          <Button
            variant="subtle"
            size="compact-sm"
            onClick={() => setShowsAll(!showsAll)}
            style={{ alignSelf: 'flex-start' }}
          >
            {showsAll ? say.fewerColumns : say.allColumns(count(columns.length))}
          </Button>
        )}
      </Stack>
    </Section>
  )
}
