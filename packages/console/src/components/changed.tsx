import { Alert, Button, Group, Stack, Table, Text, VisuallyHidden } from '@mantine/core'
import { PenstockError } from '@penstock/client'
import { IconArrowsDiff } from '@tabler/icons-react'
import { useQuery } from '@tanstack/react-query'
import { components as say } from '../strings/components.ts'
import { Loaded } from './loaded.tsx'

/** Whether a save was refused because the resource was modified in the meantime. */
export const isChanged = (error: unknown): boolean => error instanceof PenstockError && error.status === 412

type Fields = Readonly<Record<string, string>>

/** Shows both versions side by side, and has one of them picked. */
export function Changed({
  mine,
  readTheirs,
  onKeepTheirs,
  onSaveMine,
}: {
  /** Texts by label. */
  mine: Fields
  readTheirs: () => Promise<{ version: string | undefined; fields: Fields }>
  onKeepTheirs: () => void
  /** @param version what was looked at, which may be replaced now */
  onSaveMine: (version: string | undefined) => void
}) {
  const theirs = useQuery({
    queryKey: ['theirs', mine],
    queryFn: readTheirs,
    gcTime: 0,
    staleTime: Number.POSITIVE_INFINITY,
  })
  return (
    <Alert color="yellow" icon={<IconArrowsDiff aria-hidden />} title={say.changedMeanwhile} role="alert">
      <Stack gap="sm">
        <Text size="sm">{say.changedMeanwhileHelp}</Text>
        <Loaded query={theirs} lines={2}>
          {({ version, fields }) => (
            <>
              <Table withRowBorders={false} fz="sm">
                <Table.Thead>
                  <Table.Tr>
                    <Table.Th>
                      <VisuallyHidden>{say.field}</VisuallyHidden>
                    </Table.Th>
                    <Table.Th>{say.yours}</Table.Th>
                    <Table.Th>{say.theirs}</Table.Th>
                  </Table.Tr>
                </Table.Thead>
                <Table.Tbody>
                  {[...new Set([...Object.keys(mine), ...Object.keys(fields)])].map((label) => (
                    <Table.Tr key={label} fw={mine[label] === fields[label] ? undefined : 650}>
                      <Table.Td>{label}</Table.Td>
                      <Table.Td style={{ overflowWrap: 'anywhere' }}>{mine[label]}</Table.Td>
                      <Table.Td style={{ overflowWrap: 'anywhere' }}>{fields[label]}</Table.Td>
                    </Table.Tr>
                  ))}
                </Table.Tbody>
              </Table>
              <Group>
                <Button size="compact-sm" variant="default" onClick={onKeepTheirs}>
                  {say.keepTheirs}
                </Button>
                <Button size="compact-sm" onClick={() => onSaveMine(version)}>
                  {say.saveMine}
                </Button>
              </Group>
            </>
          )}
        </Loaded>
      </Stack>
    </Alert>
  )
}
