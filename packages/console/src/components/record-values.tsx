import { Group, Text } from '@mantine/core'
import type { Reject } from '@penstock/wire'

/** A record by its columns, as it was read. */
export function RecordValues({ record }: { record: Reject['record'] }) {
  return (
    <Group gap={6} fz="xs" ff="monospace" style={{ overflowWrap: 'anywhere' }}>
      {Object.entries(record).map(([field, value]) => (
        <span key={field}>
          <Text span inherit c="dimmed">
            {field}:
          </Text>{' '}
          {value ?? '∅'}
        </span>
      ))}
    </Group>
  )
}
