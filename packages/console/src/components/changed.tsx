import { Alert, Button, Group, Stack, Text, VisuallyHidden } from '@mantine/core'
import { PenstockError } from '@penstock/client'
import { IconArrowsDiff } from '@tabler/icons-react'
import { useQuery } from '@tanstack/react-query'
import { components as say } from '../strings/components.ts'
import { Loaded } from './loaded.tsx'
import { DataTable } from './resource-table.tsx'

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
          {({ version, fields }) => {
            const cell = (text: (label: string) => string | undefined) => (label: string) => (
              <Text span inherit {...(mine[label] !== fields[label] && { fw: 650 })}>
                {text(label)}
              </Text>
            )
            return (
              <>
                <DataTable
                  withRowBorders={false}
                  fz="sm"
                  rows={[...new Set([...Object.keys(mine), ...Object.keys(fields)])]}
                  columns={[
                    { header: <VisuallyHidden>{say.field}</VisuallyHidden>, cell: cell((label) => label) },
                    { header: say.yours, wraps: true, cell: cell((label) => mine[label]) },
                    { header: say.theirs, wraps: true, cell: cell((label) => fields[label]) },
                  ]}
                />
                <Group>
                  <Button size="compact-sm" variant="default" onClick={onKeepTheirs}>
                    {say.keepTheirs}
                  </Button>
                  <Button size="compact-sm" onClick={() => onSaveMine(version)}>
                    {say.saveMine}
                  </Button>
                </Group>
              </>
            )
          }}
        </Loaded>
      </Stack>
    </Alert>
  )
}
