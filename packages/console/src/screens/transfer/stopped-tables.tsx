import { Alert, Box, Group, Stack, Text } from '@mantine/core'
import type { ConnectionDetails, Drift, Transfer } from '@penstock/wire'
import { IconColumns } from '@tabler/icons-react'
import { useForbidden } from '../../api/me.ts'
import { useWrite } from '../../api/queries.ts'
import { notifyOutcome } from '../../components/notify.ts'
import { ReasonedButton } from '../../components/reasoned.tsx'
import { useFirst } from '../../components/use-first.tsx'
import { columnChanges as say } from '../../strings/column-changes.ts'
import { columnGroupsOf } from './column-groups.ts'

type ChangedTable = NonNullable<Drift['tables']>[number]

const shownMax = 20

/** The tables whose changed columns stopped them in the newest transfer. A person accepts the changes of one table, or of all. */
export function StoppedTables({
  connection,
  tables,
  reason,
  onStarted,
}: {
  connection: ConnectionDetails
  tables: readonly ChangedTable[]
  /** Why no transfer can start. */
  reason: string | undefined
  onStarted: ((transfer: Transfer) => void) | undefined
}) {
  const { accountId, id } = connection
  const accept = useWrite('setDrift')
  const start = useWrite('startTransfer')
  const whyNot = useForbidden('setDrift') ?? reason
  const { shown, more } = useFirst(tables, shownMax)
  const acceptOne = (table: string) => {
    const written = accept.mutateAsync({ accountId, id, body: { accept: true, add: true, tables: [table] } })
    return notifyOutcome(written, say.acceptedTable(table))
  }
  const run = async () => {
    await accept.mutateAsync({ accountId, id, body: { accept: true, add: true } })
    const { reply } = await start.mutateAsync({ accountId, id, body: {} })
    onStarted?.(reply)
  }
  const isBusy = accept.isPending || start.isPending
  return (
    <Alert
      color="yellow"
      icon={<IconColumns aria-hidden />}
      title={say.stoppedTables(tables.length)}
      role="alert"
      styles={{ body: { minWidth: 0 } }}
    >
      <Group justify="space-between" gap="sm" mb="sm">
        <Text size="sm" style={{ flex: '1 1 20rem' }}>
          {say.tablesWait}
        </Text>
        <ReasonedButton
          size="compact-md"
          reason={whyNot}
          loading={isBusy}
          onClick={() => void notifyOutcome(run(), say.accepted)}
        >
          {say.acceptAll}
        </ReasonedButton>
      </Group>
      <Stack component="ul" gap={0} m={0} p={0} style={{ listStyle: 'none' }}>
        {shown.map(({ table, changes }) => (
          <Box
            component="li"
            key={table}
            py="xs"
            style={{ borderTop: '1px solid var(--mantine-color-default-border)' }}
          >
            <Group gap="md" align="flex-start" wrap="nowrap">
              <Box style={{ flex: 1, overflowWrap: 'anywhere' }} miw={0}>
                <Text size="sm" fw={600} ff="monospace">
                  {table}
                </Text>
                {columnGroupsOf(changes, connection, true).map((group) => (
                  <Text key={group.key} size="sm">
                    {say.group(group, connection.dest.connectorName)}: {group.columns.map(say.column).join(', ')}.{' '}
                    {say.consequence(group, connection.dest.connectorName)}
                  </Text>
                ))}
              </Box>
              <ReasonedButton
                size="compact-sm"
                variant="default"
                reason={whyNot}
                loading={isBusy}
                aria-label={say.acceptTableOf(table)}
                onClick={() => void acceptOne(table)}
              >
                {say.acceptTable}
              </ReasonedButton>
            </Group>
          </Box>
        ))}
      </Stack>
      {more}
    </Alert>
  )
}
