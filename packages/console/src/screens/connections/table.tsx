import { Box, Group, Stack, Text } from '@mantine/core'
import { useMediaQuery } from '@mantine/hooks'
import type { ResultOf } from '@penstock/client'
import type { Connection, Transfer } from '@penstock/wire'
import type { UseQueryResult } from '@tanstack/react-query'
import { type ReactNode, useMemo } from 'react'
import { AccountName } from '../../components/account-name.tsx'
import { count } from '../../components/numbers.ts'
import { type Column, NameLink, ResourceTable } from '../../components/resource-table.tsx'
import { Sides } from '../../components/sides.tsx'
import { ConnectionBadge, TransferBadge } from '../../components/status.tsx'
import { Time } from '../../components/time.tsx'
import { connections as say } from '../../strings/connections.ts'

/** A table of connections; each row leads to its connection. */
export function ConnectionTable({
  query,
  transfers,
  showsAccount,
  empty,
}: {
  query: UseQueryResult<ResultOf<'listConnections'>, Error>
  /** The newest of each connection that has one. */
  transfers: ReadonlyMap<string, Transfer>
  showsAccount: boolean
  empty: ReactNode
}) {
  // On wide screens both sides have a column of their own, else they are below the name; only one of these is rendered.
  const isWide = useMediaQuery('(min-width: 62em)', true, { getInitialValueInEffect: false })
  const columns = useMemo(
    (): (Column<Connection> | false)[] => [
      {
        header: say.name,
        cell: ({ id, accountId, name, src, dest }) => (
          <>
            <NameLink to={pathOf({ accountId, id })}>{name}</NameLink>
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
          </>
        ),
      },
      isWide && { header: say.sides, w: '28%', cell: ({ src, dest }) => <Sides src={src} dest={dest} /> },
      { header: say.status, w: 130, cell: ({ status }) => <ConnectionBadge status={status} /> },
      {
        header: say.volume,
        from: 'lg',
        w: 170,
        right: true,
        nowrap: true,
        cell: ({ usedVolume, totalVolume }) => say.volumeOf(count(usedVolume), count(totalVolume)),
      },
      {
        header: say.lastTransfer,
        from: 'sm',
        w: 150,
        cell: ({ id }) => <LastTransfer transfer={transfers.get(id)} />,
      },
    ],
    [transfers, showsAccount, isWide],
  )
  return (
    <ResourceTable
      label={say.title}
      layout="fixed"
      query={query}
      lines={10}
      empty={empty}
      columns={columns}
      to={pathOf}
    />
  )
}

const pathOf = ({ accountId, id }: Pick<Connection, 'accountId' | 'id'>) => `/accounts/${accountId}/connections/${id}`

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
