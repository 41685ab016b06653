import { Box, Group, Stack, Text } from '@mantine/core'
import { useMediaQuery } from '@mantine/hooks'
import type { ConnectionLabels, ScheduleEntry, Transfer } from '@penstock/wire'
import type { UseQueryResult } from '@tanstack/react-query'
import { type ReactNode, useMemo } from 'react'
import { AccountName } from '../../components/account-name.tsx'
import { Tags } from '../../components/labels.tsx'
import { count } from '../../components/numbers.ts'
import { type Column, NameLink, ResourceTable } from '../../components/resource-table.tsx'
import { Sides } from '../../components/sides.tsx'
import { nextRunOf } from '../../components/standing.ts'
import { ConnectionBadge, NextRunWords, TransferBadge } from '../../components/status.tsx'
import { Time } from '../../components/time.tsx'
import { connections as say } from '../../strings/connections.ts'
import { labels as labelWords } from '../../strings/labels.ts'
import type { Listed } from './use-connections.ts'
import type { SideNames } from './use-side-names.ts'

/** How the columns sort: names from A, the newest transfer and the next one first. */
const orders = {
  name: { first: 'name', second: '-name' },
  last: { first: '-lastTransfer', second: 'lastTransfer', isDescendingFirst: true },
  next: { first: 'nextTransfer', second: '-nextTransfer' },
} as const

const noNames = {}

/** A table of connections; each row leads to its connection. */
export function ConnectionTable({
  query,
  transfers,
  schedules,
  labels,
  names,
  showsAccount,
  showsVolume,
  picked,
  onPick,
  empty,
}: {
  query: UseQueryResult<{ readonly reply: readonly Listed[]; readonly total: number }, Error>
  /** The newest of each connection that has one. */
  transfers: ReadonlyMap<string, Transfer>
  schedules: ReadonlyMap<string, ScheduleEntry>
  labels: ReadonlyMap<string, ConnectionLabels>
  /** Names of the configurations of both sides. */
  names: ReadonlyMap<string, SideNames>
  showsAccount: boolean
  showsVolume: boolean
  /** Identifiers of the selected connections. */
  picked: ReadonlySet<string>
  onPick: (ids: ReadonlySet<string>) => void
  empty: ReactNode
}) {
  const shownIds = query.data?.reply.map(({ id }) => id).join(',') ?? ''
  // On wide screens both sides have a column of their own, else they are below the name; only one of these is rendered.
  const isWide = useMediaQuery('(min-width: 62em)', true, { getInitialValueInEffect: false })
  const columns = useMemo(
    (): (Column<Listed> | false)[] => [
      pickColumn(shownIds === '' ? [] : shownIds.split(','), picked, onPick),
      {
        header: say.name,
        orders: showsVolume ? orders.name : undefined,
        cell: ({ id, accountId, name, src, dest }) => (
          <>
            <NameLink to={pathOf({ accountId, id })}>{name}</NameLink>
            <Tags tags={labels.get(id)?.tags ?? []} />
            {showsAccount && (
              <Box fz="sm">
                <AccountName accountId={accountId} page="connections" />
              </Box>
            )}
            {!isWide && (
              <Box fz="sm" c="dimmed" mt={2}>
                {/* Longer names come later and would wrap, so that rows move. */}
                <Sides src={src} dest={dest} names={noNames} size={16} wraps />
              </Box>
            )}
          </>
        ),
      },
      isWide && {
        header: say.sides,
        w: '24%',
        cell: ({ id, src, dest }) => <Sides src={src} dest={dest} names={names.get(id) ?? {}} stacked />,
      },
      {
        header: say.status,
        w: 130,
        cell: ({ id, status }) => <ConnectionBadge status={status} transfer={transfers.get(id)} />,
      },
      showsVolume && {
        header: say.volume,
        from: 'lg',
        w: 170,
        right: true,
        nowrap: true,
        cell: ({ usedVolume = 0, totalVolume = 0 }) => say.volumeOf(count(usedVolume), count(totalVolume)),
      },
      {
        header: say.lastTransfer,
        orders: showsVolume ? orders.last : undefined,
        from: 'sm',
        w: 150,
        cell: ({ id }) => <LastTransfer transfer={transfers.get(id)} />,
      },
      {
        header: say.nextRun,
        orders: showsVolume ? orders.next : undefined,
        from: 'xl',
        w: 140,
        cell: ({ id, status }) => <NextRunWords next={nextRunOf(status, transfers.get(id), schedules.get(id))} />,
      },
      labels.size > 0 && {
        header: labelWords.owner,
        from: 'xl',
        w: 120,
        cell: ({ id }) => {
          const owner = labels.get(id)?.owner
          return owner ? (
            <Text size="sm" truncate title={owner.email}>
              {owner.name ?? owner.email}
            </Text>
          ) : null
        },
      },
    ],
    [transfers, schedules, labels, names, showsAccount, showsVolume, isWide, shownIds, picked, onPick],
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

const pathOf = ({ accountId, id }: Pick<Listed, 'accountId' | 'id'>) => `/accounts/${accountId}/connections/${id}`

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
      <TransferBadge transfer={transfer} />
      <Group fz="xs" c="dimmed" pl={2}>
        <Time seconds={transfer.finishedTime ?? transfer.createdTime} />
      </Group>
    </Stack>
  )
}

/** Selects rows, and all that are shown. */
function pickColumn(
  shown: readonly string[],
  picked: ReadonlySet<string>,
  onPick: (ids: ReadonlySet<string>) => void,
): Column<Listed> {
  const isAll = shown.length > 0 && shown.every((id) => picked.has(id))
  const toggle = (id: string) =>
    onPick(picked.has(id) ? new Set([...picked].filter((one) => one !== id)) : new Set([...picked, id]))
  return {
    w: 44,
    header: (
      <Pick
        label={say.selectPage}
        checked={isAll}
        isPart={!isAll && picked.size > 0}
        onChange={() => onPick(isAll ? new Set() : new Set(shown))}
      />
    ),
    from: 'sm',
    cell: ({ id, name }) => <Pick label={say.select(name)} checked={picked.has(id)} onChange={() => toggle(id)} />,
  }
}

/** A plain checkbox: a list has many, and they are drawn sooner than the checkboxes of the library. */
function Pick({
  label,
  checked,
  isPart = false,
  onChange,
}: {
  label: string
  checked: boolean
  /** Some of what it stands for is selected. */
  isPart?: boolean
  onChange: () => void
}) {
  return (
    <input
      type="checkbox"
      className="pick"
      aria-label={label}
      checked={checked}
      ref={(box) => {
        if (box) box.indeterminate = isPart
      }}
      onChange={onChange}
    />
  )
}
