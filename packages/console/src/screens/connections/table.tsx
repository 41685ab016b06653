import { Anchor, Box, Group, Stack, Table, Text } from '@mantine/core'
import { useMediaQuery } from '@mantine/hooks'
import type { Connection, Transfer } from '@penstock/wire'
import { type MouseEvent, memo } from 'react'
import { Link, useNavigate } from 'react-router'
import { AccountName } from '../../components/account-name.tsx'
import { ListTable } from '../../components/list-table.tsx'
import { count } from '../../components/numbers.ts'
import { Sides } from '../../components/sides.tsx'
import { ConnectionBadge, TransferBadge } from '../../components/status.tsx'
import { Time } from '../../components/time.tsx'
import { connections as say } from '../../strings/connections.ts'

/** A table of connections; each row leads to its connection. */
export function ConnectionTable({
  connections,
  transfers,
  showsAccount,
}: {
  connections: readonly Connection[]
  /** The newest of each connection that has one. */
  transfers: ReadonlyMap<string, Transfer>
  showsAccount: boolean
}) {
  // On wide screens both sides have a column of their own, else they are below the name; only one of these is rendered.
  const isWide = useMediaQuery('(min-width: 62em)', true, { getInitialValueInEffect: false })
  return (
    <ListTable label={say.title} layout="fixed">
      <Table.Thead>
        <Table.Tr>
          <Table.Th>{say.name}</Table.Th>
          {isWide && <Table.Th w="28%">{say.sides}</Table.Th>}
          <Table.Th w={130}>{say.status}</Table.Th>
          <Table.Th ta="right" visibleFrom="lg" w={170}>
            {say.volume}
          </Table.Th>
          <Table.Th visibleFrom="sm" w={150}>
            {say.lastTransfer}
          </Table.Th>
        </Table.Tr>
      </Table.Thead>
      <Table.Tbody>
        {connections.map((connection) => (
          <Row
            key={connection.id}
            connection={connection}
            transfer={transfers.get(connection.id)}
            showsAccount={showsAccount}
            isWide={isWide}
          />
        ))}
      </Table.Tbody>
    </ListTable>
  )
}

/** Stays as it is while the page around it changes. */
const Row = memo(function Row({
  connection: { id, accountId, name, status, src, dest, usedVolume, totalVolume },
  transfer,
  showsAccount,
  isWide,
}: {
  connection: Connection
  transfer: Transfer | undefined
  showsAccount: boolean
  isWide: boolean
}) {
  const navigate = useNavigate()
  const to = `/accounts/${accountId}/connections/${id}`
  // For the mouse alone: the keyboard and screen readers have the link of the name.
  const open = (event: MouseEvent) => {
    const isElsewhere = event.target instanceof Element && event.target.closest('a, button') !== null
    if (!isElsewhere && window.getSelection()?.isCollapsed !== false) navigate(to)
  }
  return (
    <Table.Tr onClick={open} style={{ cursor: 'pointer' }}>
      <Table.Td>
        <Anchor component={Link} to={to} fw={550} fz="inherit" lineClamp={2} style={{ overflowWrap: 'anywhere' }}>
          {name}
        </Anchor>
        {showsAccount && (
          <Box fz="sm">
            <AccountName accountId={accountId} page="connections" />
          </Box>
        )}
        {!isWide && (
          <Box fz="sm" c="dimmed" mt={2}>
            <Sides src={src} dest={dest} size={16} wraps />
          </Box>
        )}
      </Table.Td>
      {isWide && (
        <Table.Td>
          <Sides src={src} dest={dest} />
        </Table.Td>
      )}
      <Table.Td>
        <ConnectionBadge status={status} />
      </Table.Td>
      <Table.Td ta="right" visibleFrom="lg" style={{ whiteSpace: 'nowrap' }}>
        {say.volumeOf(count(usedVolume), count(totalVolume))}
      </Table.Td>
      <Table.Td visibleFrom="sm">
        <LastTransfer transfer={transfer} />
      </Table.Td>
    </Table.Tr>
  )
})

function LastTransfer({ transfer }: { transfer: Transfer | undefined }) {
  if (!transfer) {
    return (
      <Text size="sm" c="dimmed">
        {say.neverRan}
      </Text>
    )
  }
  return (
    <Stack gap={2} align="flex-start">
      <TransferBadge status={transfer.status} />
      <Group fz="xs" c="dimmed" pl={2}>
        <Time seconds={transfer.finishedTime ?? transfer.createdTime} />
      </Group>
    </Stack>
  )
}
