import { Badge, Button, Group, Stack, Text } from '@mantine/core'
import type { EventStream } from '@penstock/wire'
import { useState } from 'react'
import { count } from '../../components/numbers.ts'
import { Section } from '../../components/section.tsx'
import { streams as say } from '../../strings/streams.ts'

const shownMax = 12

/** The columns that were seen in the events of a stream, with the kinds of their values. */
export function ColumnsSeen({ columns }: Pick<EventStream, 'columns'>) {
  const [showsAll, setShowsAll] = useState(false)
  if (columns.length === 0) return null
  const isMixed = columns.some(({ kinds }) => kinds.length > 1)
  return (
    <Section title={say.columns} note={count(columns.length)} help={isMixed ? say.mixed : undefined} region>
      <Stack gap="xs">
        {columns.slice(0, showsAll ? undefined : shownMax).map(({ name, kinds }) => (
          <Group key={name} justify="space-between" gap="sm">
            <Text size="sm" style={{ overflowWrap: 'anywhere' }}>
              {name}
            </Text>
            <Badge variant="light" color={kinds.length > 1 ? 'yellow' : 'gray'} tt="none" fw={500}>
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
