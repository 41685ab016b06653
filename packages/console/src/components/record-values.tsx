import { Box, Group, Text } from '@mantine/core'
import type { Reject } from '@penstock/wire'
import type { Column } from './resource-table.tsx'

type Shown = { record: Reject['record']; edited?: Reject['edited'] }

/** A record by its columns, as it was read, and corrected values in place of these. */
function RecordValues({ record, edited }: Shown) {
  return (
    <Group gap={6} fz="xs" ff="monospace" style={{ overflowWrap: 'anywhere' }}>
      {Object.entries(record).map(([field, value]) => (
        <span key={field}>
          <Text span inherit c="dimmed">
            {field}:
          </Text>{' '}
          {edited && edited[field] !== value ? (
            <>
              <s>{value ?? '∅'}</s> {edited[field] ?? '∅'}
            </>
          ) : (
            (value ?? '∅')
          )}
        </span>
      ))}
    </Group>
  )
}

/** Columns with the reason of a rejected record and its values, which stand below the reason in narrow windows. */
export const recordColumns = (headers: {
  readonly reason: string
  readonly record: string
}): readonly Column<Shown & Pick<Reject, 'reason'>>[] => [
  {
    header: headers.reason,
    wraps: true,
    cell: ({ reason, ...shown }) => (
      <>
        {reason}
        <Box hiddenFrom="md" mt={4}>
          <RecordValues {...shownOf(shown)} />
        </Box>
      </>
    ),
  },
  { header: headers.record, from: 'md', cell: (row) => <RecordValues {...shownOf(row)} /> },
]

const shownOf = ({ record, edited = null }: Shown): Shown => ({ record, edited })
