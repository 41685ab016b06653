import { ActionIcon, Anchor, Box, Group, Select, Stack, Text, Tooltip } from '@mantine/core'
import {
  type ConnectionDetails,
  connectionTransferOrders,
  type Transfer,
  type TransferStatus,
  transferStatuses,
} from '@penstock/wire'
import { IconPlayerStop } from '@tabler/icons-react'
import { Link } from 'react-router'
import { useRead } from '../../api/queries.ts'
import { useAddress } from '../../components/address.ts'
import { useDialog } from '../../components/form-dialog.tsx'
import { count } from '../../components/numbers.ts'
import { Empty, Toolbar } from '../../components/page.tsx'
import { pageOf } from '../../components/pager.tsx'
import { type Column, ResourceTable } from '../../components/resource-table.tsx'
import { lastResultOf } from '../../components/standing.ts'
import { TransferBadge, TransferTag } from '../../components/status.tsx'
import { duration, Time } from '../../components/time.tsx'
import { connection as say } from '../../strings/connection.ts'
import { standing as words } from '../../strings/standing.ts'
import { pathOfTransfer } from '../transfer/paths.ts'
import { startOf } from '../transfer/start-of.ts'
import { CancelTransfer, TransferProgress } from './active-transfer.tsx'
import { againWhileActive, isActive } from './use-connection.ts'

/** Every transfer of the connection, newest first unless the address says otherwise. */
export function Transfers({ connection }: { connection: ConnectionDetails }) {
  const address = useAddress()
  const status = transferStatuses.find((one) => one === address.value('status'))
  const sort = connectionTransferOrders.find((one) => one === address.value('sort'))
  const { accountId, id } = connection
  const query = useRead(
    'listTransfers',
    { accountId, id, query: { status, sort, ...pageOf(address) } },
    { keep: true, againAfterMs: againWhileActive },
  )
  const [dialog, open] = useDialog()
  const cancel = (transfer: Transfer) => (
    <Tooltip label={say.cancelOne}>
      <ActionIcon
        variant="subtle"
        color="red"
        aria-label={say.cancelOne}
        onClick={() => open((close) => <CancelTransfer transfer={transfer} onClose={close} />)}
      >
        <IconPlayerStop size={18} aria-hidden />
      </ActionIcon>
    </Tooltip>
  )
  return (
    <>
      <Toolbar>
        <Select
          aria-label={say.transferStatus}
          placeholder={say.anyStatus}
          data={transferStatuses.map((one: TransferStatus) => ({ value: one, label: words.result[one] }))}
          value={status ?? null}
          clearable
          clearButtonProps={{ 'aria-label': say.anyStatus }}
          onChange={(next) => address.change({ status: next ?? '' })}
          w={200}
        />
      </Toolbar>
      <Stack gap="md" mt="md">
        <ResourceTable
          label={say.transfers}
          query={query}
          quiet
          empty={<Empty title={status ? say.noTransfersFit : say.noTransfers} />}
          columns={columns}
          actions={query.data?.reply.some(isActive) && ((transfer: Transfer) => isActive(transfer) && cancel(transfer))}
          actionsW={48}
        />
      </Stack>
      {dialog}
    </>
  )
}

/** How the columns sort: the oldest first, since the newest are first anyway, and the largest numbers first. */
const orders = {
  started: { first: 'created', second: '-created' },
  read: { first: '-read', second: 'read', isDescendingFirst: true },
  rejected: { first: '-rejected', second: 'rejected', isDescendingFirst: true },
  took: { first: '-duration', second: 'duration', isDescendingFirst: true },
} as const

const columns: readonly Column<Transfer>[] = [
  {
    header: say.transferStatus,
    cell: (transfer) => (
      <>
        <Anchor
          component={Link}
          to={pathOfTransfer(transfer)}
          fz="inherit"
          underline="never"
          style={{ display: 'inline-block', minWidth: 'max-content' }}
          aria-label={(transfer.test ? say.openTest : say.openTransfer)(words.result[lastResultOf(transfer)])}
        >
          <Group gap={6} wrap="nowrap">
            <TransferBadge transfer={transfer} />
            <TransferTag transfer={transfer} />
          </Group>
        </Anchor>
        {isActive(transfer) && (
          <Box mt={6} maw={160}>
            <TransferProgress transfer={transfer} size="sm" />
          </Box>
        )}
        {transfer.error && (
          <Text size="xs" c="dimmed" mt={4} maw={320} lineClamp={2} visibleFrom="md">
            {transfer.error.message}
          </Text>
        )}
      </>
    ),
  },
  { header: say.transferStarted, orders: orders.started, cell: ({ createdTime }) => <Time seconds={createdTime} /> },
  { header: say.trigger, from: 'lg', cell: (transfer) => startOf(transfer) },
  { header: say.read, orders: orders.read, from: 'sm', right: true, cell: ({ records }) => count(records.read) },
  { header: say.accepted, right: true, cell: ({ records }) => count(records.accepted) },
  {
    header: say.rejected,
    orders: orders.rejected,
    from: 'sm',
    right: true,
    cell: ({ records: { rejected } }) => (
      <Text span inherit {...(rejected > 0 ? {} : { c: 'dimmed' })}>
        {count(rejected)}
      </Text>
    ),
  },
  {
    header: say.took,
    orders: orders.took,
    from: 'md',
    right: true,
    nowrap: true,
    cell: ({ startedTime, finishedTime }) =>
      startedTime !== null && finishedTime !== null ? duration(finishedTime - startedTime) : '…',
  },
]
