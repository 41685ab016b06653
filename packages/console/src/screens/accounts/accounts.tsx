import { Anchor, Badge, Group, SegmentedControl, Text } from '@mantine/core'
import type { AccountFigures } from '@penstock/wire'
import { Link } from 'react-router'
import { useForbidden } from '../../api/me.ts'
import { readOnce, useRead, useWrite } from '../../api/queries.ts'
import { type ListAddress, useAddress } from '../../components/address.ts'
import { type OpenDialog, useDialog } from '../../components/form-dialog.tsx'
import { notifyOutcome } from '../../components/notify.ts'
import { Empty, Page, Toolbar } from '../../components/page.tsx'
import { foundOf } from '../../components/pager.tsx'
import { ActionsMenu, AddButton } from '../../components/reasoned.tsx'
import { type Column, NameLink, ResourceTable } from '../../components/resource-table.tsx'
import { SearchBox } from '../../components/search-box.tsx'
import { Time } from '../../components/time.tsx'
import { accounts as say } from '../../strings/accounts.ts'
import { alerts } from '../../strings/alerts.ts'
import { Below } from './below.tsx'
import { DeleteAccount } from './delete-account.tsx'
import { Connections, Limit, Rows } from './figures.tsx'
import { SaveAccount } from './save-account.tsx'
import { Totals } from './totals.tsx'

/** Orders that an address can name; the service refuses others. */
const sorts = ['name', '-name', '-connections', 'connections', '-rows', 'rows', '-incident', 'incident'] as const

const listOf = (address: ListAddress) => ({
  query: {
    ...foundOf(address),
    failing: address.value('show') === 'failing' ? true : undefined,
    sort: sorts.find((sort) => sort === address.value('sort')),
  },
})
export const readAhead = (_: unknown, address: ListAddress) => readOnce('listAccountFigures', listOf(address))

/** Every sub-account of the organization: what fails in it, what it moved, and its last incident. */
export function Component() {
  const address = useAddress()
  const query = useRead('listAccountFigures', listOf(address), { keep: true })
  const forbidden = useForbidden('addAccount')
  const [dialog, open] = useDialog()
  const add = (
    <AddButton reason={forbidden} onClick={() => open((close) => <SaveAccount onClose={close} />)}>
      {say.add}
    </AddButton>
  )
  const isFailing = address.value('show') === 'failing'
  const ids = query.data?.reply.map(({ id }) => id) ?? []
  return (
    <Page title={say.title} help={say.help} actions={add}>
      <Totals />
      <Toolbar>
        <SearchBox label={say.search} />
        <SegmentedControl
          aria-label={say.show}
          value={isFailing ? 'failing' : 'all'}
          data={[
            { value: 'all', label: say.all },
            { value: 'failing', label: say.onlyFailing },
          ]}
          onChange={(show) => address.change({ show: show === 'all' ? '' : show })}
        />
      </Toolbar>
      <ResourceTable
        label={say.title}
        query={query}
        lines={8}
        empty={
          isFailing && !address.value('q') ? (
            <Empty title={say.noneFailing} />
          ) : address.value('q') ? (
            <Empty title={say.noneFound} />
          ) : (
            <Empty title={say.none} help={say.noneHelp} action={add} />
          )
        }
        columns={columnsOf(ids)}
        actions={(account) => <Actions account={account} open={open} />}
      />
      <Below />
      {dialog}
    </Page>
  )
}

const columnsOf = (ids: readonly string[]): readonly Column<AccountFigures>[] => [
  {
    header: say.name,
    orders: { first: 'name', second: '-name' },
    wraps: true,
    cell: ({ id, name, enabled }) => (
      <Group gap="xs">
        <NameLink to={`/accounts/${id}`}>{name}</NameLink>
        {!enabled && (
          <Badge color="gray" variant="default">
            {say.disabled}
          </Badge>
        )}
      </Group>
    ),
  },
  {
    header: say.connections,
    orders: { first: '-connections', second: 'connections', isDescendingFirst: true },
    from: 'sm',
    folded: true,
    w: '24%',
    cell: (account) => <Connections account={account} />,
  },
  {
    header: say.rows,
    orders: { first: '-rows', second: 'rows', isDescendingFirst: true },
    from: 'sm',
    folded: true,
    w: 190,
    cell: (account) => <Rows account={account} ids={ids} />,
  },
  { header: say.limit, from: 'lg', w: 150, cell: (account) => <Limit account={account} /> },
  {
    header: say.lastIncident,
    orders: { first: '-incident', second: 'incident', isDescendingFirst: true },
    from: 'md',
    folded: ({ lastIncident, ...account }) => lastIncident && <LastIncident account={{ ...account, lastIncident }} />,
    w: '26%',
    wraps: true,
    cell: (account) => <LastIncident account={account} />,
  },
]

function LastIncident({ account: { id, lastIncident } }: { account: AccountFigures }) {
  if (!lastIncident) {
    return (
      <Text size="sm" c="dimmed">
        {say.noIncident}
      </Text>
    )
  }
  const { reasons, connectionId, connectionName, openedTime, resolvedTime } = lastIncident
  return (
    <>
      <Group gap={6} wrap="nowrap">
        {resolvedTime === null && (
          <Badge variant="dot" color="red" fw={500} style={{ flex: 'none' }}>
            {say.open}
          </Badge>
        )}
        <Text size="sm" fw={550} truncate>
          {reasons[0] && alerts.reason[reasons[0]]}
        </Text>
      </Group>
      <Text size="xs" c="dimmed">
        <Anchor component={Link} to={`/accounts/${id}/connections/${connectionId}`} inherit underline="always">
          {connectionName}
        </Anchor>{' '}
        · {resolvedTime === null ? say.since : say.ended} <Time seconds={resolvedTime ?? openedTime} />
      </Text>
    </>
  )
}

function Actions({ account, open }: { account: AccountFigures; open: OpenDialog }) {
  const { id, name, enabled } = account
  const edit = useWrite('editAccount')
  const reason = useForbidden('editAccount')
  const toggle = () =>
    void notifyOutcome(
      edit.mutateAsync({ id, body: { enabled: !enabled } }),
      enabled ? say.disabledNow(name) : say.enabledNow(name),
    )
  const change = () => open((close) => <SaveAccount account={account} onClose={close} />)
  const remove = () => open((close) => <DeleteAccount account={account} onClose={close} />)
  return (
    <ActionsMenu
      label={say.actions(name)}
      loading={edit.isPending}
      groups={[
        [
          { label: say.openAccount, to: `/accounts/${id}` },
          { label: say.audit, to: `/accounts/${id}/audit` },
          { label: say.edit, reason, onClick: change },
          { label: enabled ? say.disable : say.enable, reason, onClick: toggle },
        ],
        [{ label: say.delete, reason, destructive: true, onClick: remove }],
      ]}
    />
  )
}
