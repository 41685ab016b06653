import { Box, Group, Text } from '@mantine/core'
import type { Reject } from '@penstock/wire'
import type { Column } from './resource-table.tsx'

/** A record by its columns, as it was read. */
function RecordValues({ record }: { record: Reject['record'] }) {
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

/** Columns with the reason of a rejected record and its values, which stand below the reason in narrow windows. */
export const recordColumns = (headers: {
  readonly reason: string
  readonly record: string
}): readonly Column<Pick<Reject, 'reason' | 'record'>>[] => [
  {
    header: headers.reason,
    wraps: true,
    cell: ({ reason, record }) => (
      <>
        {reason}
        <Box hiddenFrom="md" mt={4}>
          <RecordValues record={record} />
        </Box>
      </>
    ),
  },
  { header: headers.record, from: 'md', cell: ({ record }) => <RecordValues record={record} /> },
]
