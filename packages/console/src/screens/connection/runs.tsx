import { ActionIcon, Anchor, Box, Group, Select, Table, Text, Tooltip, VisuallyHidden } from '@mantine/core'
import { type ConnectionDetails, type Transfer, type TransferStatus, transferStatuses } from '@penstock/wire'
import { IconPlayerStop } from '@tabler/icons-react'
import { useState } from 'react'
import { Link } from 'react-router'
import { useRead } from '../../api/queries.ts'
import { useAddress } from '../../parts/address.ts'
import { ListTable } from '../../parts/list-table.tsx'
import { Loaded } from '../../parts/loaded.tsx'
import { count } from '../../parts/numbers.ts'
import { Empty, Toolbar } from '../../parts/page.tsx'
import { Pager, pageSize } from '../../parts/pager.tsx'
import { RunBadge } from '../../parts/status.tsx'
import { duration, Time } from '../../parts/time.tsx'
import { connection as say } from '../../strings/connection.ts'
import { parts } from '../../strings/parts.ts'
import { pathOfRun } from '../run/paths.ts'
import { CancelRun, RunProgress } from './under-way.tsx'
import { againWhileUnderWay, isUnderWay } from './use-connection.ts'

/** Every run of the connection, newest first. */
export function Runs({ connection }: { connection: ConnectionDetails }) {
  const { value, page, change } = useAddress()
  const status = transferStatuses.find((one) => one === value('status'))
  const { accountId, id } = connection
  const query = useRead(
    'listTransfers',
    { accountId, id, query: { status, size: pageSize, offset: page * pageSize } },
    { keep: true, againAfterMs: againWhileUnderWay },
  )
  const [cancelling, setCancelling] = useState<Transfer>()
  return (
    <>
      <Toolbar>
        <Select
          aria-label={say.runStatus}
          placeholder={say.anyStatus}
          data={transferStatuses.map((one: TransferStatus) => ({ value: one, label: parts.run[one] }))}
          value={status ?? null}
          clearable
          clearButtonProps={{ 'aria-label': say.anyStatus }}
          onChange={(next) => change({ status: next ?? '' })}
          w={200}
        />
      </Toolbar>
      <Box mt="md">
        <Loaded query={query} lines={6} quiet>
          {({ reply, total }) =>
            total === 0 ? (
              <Empty title={status ? say.noRunsFit : say.noRuns} />
            ) : (
              <>
                <RunsTable runs={reply} onCancel={setCancelling} />
                <Box mt="md">
                  <Pager total={total} />
                </Box>
              </>
            )
          }
        </Loaded>
      </Box>
      {cancelling && <CancelRun transfer={cancelling} onClose={() => setCancelling(undefined)} />}
    </>
  )
}

function RunsTable({ runs, onCancel }: { runs: readonly Transfer[]; onCancel: (transfer: Transfer) => void }) {
  const moves = runs.some(isUnderWay)
  return (
    <ListTable label={say.runs}>
      <Table.Thead>
        <Table.Tr>
          <Table.Th>{say.runStatus}</Table.Th>
          <Table.Th>{say.runStarted}</Table.Th>
          <Table.Th visibleFrom="lg">{say.trigger}</Table.Th>
          <Table.Th ta="right" visibleFrom="sm">
            {say.read}
          </Table.Th>
          <Table.Th ta="right">{say.accepted}</Table.Th>
          <Table.Th ta="right" visibleFrom="sm">
            {say.rejected}
          </Table.Th>
          <Table.Th ta="right" visibleFrom="md">
            {say.took}
          </Table.Th>
          {moves && (
            <Table.Th w={48}>
              <VisuallyHidden>{parts.actions}</VisuallyHidden>
            </Table.Th>
          )}
        </Table.Tr>
      </Table.Thead>
      <Table.Tbody>
        {runs.map((run) => (
          <Row key={run.id} run={run} withActions={moves} onCancel={onCancel} />
        ))}
      </Table.Tbody>
    </ListTable>
  )
}

function Row({
  run,
  withActions,
  onCancel,
}: {
  run: Transfer
  withActions: boolean
  onCancel: (transfer: Transfer) => void
}) {
  const { read, accepted, rejected } = run.records
  const moves = isUnderWay(run)
  return (
    <Table.Tr>
      <Table.Td>
        <Anchor
          component={Link}
          to={pathOfRun(run)}
          fz="inherit"
          underline="never"
          style={{ display: 'inline-block', minWidth: 'max-content' }}
          aria-label={say.openRun(parts.run[run.status])}
        >
          <RunBadge status={run.status} />
        </Anchor>
        {moves && (
          <Box mt={6} maw={160}>
            <RunProgress transfer={run} size="sm" />
          </Box>
        )}
        {run.error && (
          <Text size="xs" c="dimmed" mt={4} maw={320} lineClamp={2} visibleFrom="md">
            {run.error.message}
          </Text>
        )}
      </Table.Td>
      <Table.Td>
        <Time seconds={run.createdTime} />
      </Table.Td>
      <Table.Td visibleFrom="lg">{say.triggers[run.trigger]}</Table.Td>
      <Table.Td ta="right" visibleFrom="sm">
        {count(read)}
      </Table.Td>
      <Table.Td ta="right">{count(accepted)}</Table.Td>
      <Table.Td ta="right" visibleFrom="sm" {...(rejected > 0 ? {} : { c: 'dimmed' })}>
        {count(rejected)}
      </Table.Td>
      <Table.Td ta="right" visibleFrom="md" style={{ whiteSpace: 'nowrap' }}>
        {run.startedTime !== null && run.finishedTime !== null ? duration(run.finishedTime - run.startedTime) : '…'}
      </Table.Td>
      {withActions && (
        <Table.Td>
          {moves && (
            <Group gap={0} justify="flex-end">
              <Tooltip label={say.cancelOne}>
                <ActionIcon variant="subtle" color="red" aria-label={say.cancelOne} onClick={() => onCancel(run)}>
                  <IconPlayerStop size={18} aria-hidden />
                </ActionIcon>
              </Tooltip>
            </Group>
          )}
        </Table.Td>
      )}
    </Table.Tr>
  )
}
