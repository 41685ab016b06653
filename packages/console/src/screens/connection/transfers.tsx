import { ActionIcon, Anchor, Box, Group, Select, Table, Text, Tooltip, VisuallyHidden } from '@mantine/core'
import { type ConnectionDetails, type Transfer, type TransferStatus, transferStatuses } from '@penstock/wire'
import { IconPlayerStop } from '@tabler/icons-react'
import { useState } from 'react'
import { Link } from 'react-router'
import { useRead } from '../../api/queries.ts'
import { useAddress } from '../../components/address.ts'
import { ListTable } from '../../components/list-table.tsx'
import { Loaded } from '../../components/loaded.tsx'
import { count } from '../../components/numbers.ts'
import { Empty, Toolbar } from '../../components/page.tsx'
import { Pager, pageSize } from '../../components/pager.tsx'
import { TransferBadge } from '../../components/status.tsx'
import { duration, Time } from '../../components/time.tsx'
import { components } from '../../strings/components.ts'
import { connection as say } from '../../strings/connection.ts'
import { pathOfTransfer } from '../transfer/paths.ts'
import { CancelTransfer, TransferProgress } from './active-transfer.tsx'
import { againWhileActive, isActive } from './use-connection.ts'

/** Every transfer of the connection, newest first. */
export function Transfers({ connection }: { connection: ConnectionDetails }) {
  const { value, page, change } = useAddress()
  const status = transferStatuses.find((one) => one === value('status'))
  const { accountId, id } = connection
  const query = useRead(
    'listTransfers',
    { accountId, id, query: { status, size: pageSize, offset: page * pageSize } },
    { keep: true, againAfterMs: againWhileActive },
  )
  const [cancelling, setCancelling] = useState<Transfer>()
  return (
    <>
      <Toolbar>
        <Select
          aria-label={say.transferStatus}
          placeholder={say.anyStatus}
          data={transferStatuses.map((one: TransferStatus) => ({ value: one, label: components.transfer[one] }))}
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
              <Empty title={status ? say.noTransfersFit : say.noTransfers} />
            ) : (
              <>
                <TransfersTable transfers={reply} onCancel={setCancelling} />
                <Box mt="md">
                  <Pager total={total} />
                </Box>
              </>
            )
          }
        </Loaded>
      </Box>
      {cancelling && <CancelTransfer transfer={cancelling} onClose={() => setCancelling(undefined)} />}
    </>
  )
}

function TransfersTable({
  transfers,
  onCancel,
}: {
  transfers: readonly Transfer[]
  onCancel: (transfer: Transfer) => void
}) {
  const moves = transfers.some(isActive)
  return (
    <ListTable label={say.transfers}>
      <Table.Thead>
        <Table.Tr>
          <Table.Th>{say.transferStatus}</Table.Th>
          <Table.Th>{say.transferStarted}</Table.Th>
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
              <VisuallyHidden>{components.actions}</VisuallyHidden>
            </Table.Th>
          )}
        </Table.Tr>
      </Table.Thead>
      <Table.Tbody>
        {transfers.map((transfer) => (
          <Row key={transfer.id} transfer={transfer} withActions={moves} onCancel={onCancel} />
        ))}
      </Table.Tbody>
    </ListTable>
  )
}

function Row({
  transfer,
  withActions,
  onCancel,
}: {
  transfer: Transfer
  withActions: boolean
  onCancel: (transfer: Transfer) => void
}) {
  const { read, accepted, rejected } = transfer.records
  const moves = isActive(transfer)
  return (
    <Table.Tr>
      <Table.Td>
        <Anchor
          component={Link}
          to={pathOfTransfer(transfer)}
          fz="inherit"
          underline="never"
          style={{ display: 'inline-block', minWidth: 'max-content' }}
          aria-label={say.openTransfer(components.transfer[transfer.status])}
        >
          <TransferBadge status={transfer.status} />
        </Anchor>
        {moves && (
          <Box mt={6} maw={160}>
            <TransferProgress transfer={transfer} size="sm" />
          </Box>
        )}
        {transfer.error && (
          <Text size="xs" c="dimmed" mt={4} maw={320} lineClamp={2} visibleFrom="md">
            {transfer.error.message}
          </Text>
        )}
      </Table.Td>
      <Table.Td>
        <Time seconds={transfer.createdTime} />
      </Table.Td>
      <Table.Td visibleFrom="lg">{say.triggers[transfer.trigger]}</Table.Td>
      <Table.Td ta="right" visibleFrom="sm">
        {count(read)}
      </Table.Td>
      <Table.Td ta="right">{count(accepted)}</Table.Td>
      <Table.Td ta="right" visibleFrom="sm" {...(rejected > 0 ? {} : { c: 'dimmed' })}>
        {count(rejected)}
      </Table.Td>
      <Table.Td ta="right" visibleFrom="md" style={{ whiteSpace: 'nowrap' }}>
        {transfer.startedTime !== null && transfer.finishedTime !== null
          ? duration(transfer.finishedTime - transfer.startedTime)
          : '…'}
      </Table.Td>
      {withActions && (
        <Table.Td>
          {moves && (
            <Group gap={0} justify="flex-end">
              <Tooltip label={say.cancelOne}>
                <ActionIcon variant="subtle" color="red" aria-label={say.cancelOne} onClick={() => onCancel(transfer)}>
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
