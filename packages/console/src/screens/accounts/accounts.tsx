import { ActionIcon, Anchor, Badge, Group, Menu, Table, VisuallyHidden } from '@mantine/core'
import type { AccountEntry } from '@penstock/wire'
import { IconDots, IconPlus } from '@tabler/icons-react'
import { useState } from 'react'
import { Link } from 'react-router'
import { useForbidden } from '../../api/me.ts'
import { readOnce, useRead, useWrite } from '../../api/queries.ts'
import { type ListAddress, useAddress } from '../../components/address.ts'
import { ListTable } from '../../components/list-table.tsx'
import { notifyDone, notifyFailure } from '../../components/notify.tsx'
import { count } from '../../components/numbers.ts'
import { Empty, Page, Toolbar } from '../../components/page.tsx'
import { PagedList } from '../../components/paged-list.tsx'
import { pageSize } from '../../components/pager.tsx'
import { ReasonedButton, ReasonedItem } from '../../components/reasoned.tsx'
import { SearchBox } from '../../components/search-box.tsx'
import { Time } from '../../components/time.tsx'
import { accounts as say } from '../../strings/accounts.ts'
import { components } from '../../strings/components.ts'
import { DeleteAccount } from './delete-account.tsx'
import { SaveAccount } from './save-account.tsx'

type Doing = { what: 'add' } | { what: 'edit' | 'delete'; account: AccountEntry }

const listOf = ({ value, page }: ListAddress) => ({
  query: { q: value('q') || undefined, size: pageSize, offset: page * pageSize },
})
export const readAhead = (_: unknown, place: ListAddress) => readOnce('listAccounts', listOf(place))

/** The sub-accounts of the organization. */
export function Component() {
  const address = useAddress()
  const query = useRead('listAccounts', listOf(address), { keep: true })
  const q = address.value('q')
  const forbidden = useForbidden('addAccount')
  const [doing, setDoing] = useState<Doing>()
  const stop = () => setDoing(undefined)
  const add = (
    <ReasonedButton
      leftSection={<IconPlus size={18} aria-hidden />}
      reason={forbidden}
      onClick={() => setDoing({ what: 'add' })}
    >
      {say.add}
    </ReasonedButton>
  )
  return (
    <Page title={say.title} actions={add}>
      <Toolbar>
        <SearchBox label={say.search} />
      </Toolbar>
      <PagedList
        query={query}
        lines={8}
        empty={q ? <Empty title={say.noneFound} /> : <Empty title={say.none} help={say.noneHelp} action={add} />}
      >
        {(reply) => <Accounts accounts={reply} onDo={setDoing} />}
      </PagedList>
      {doing?.what === 'add' && <SaveAccount onClose={stop} />}
      {doing?.what === 'edit' && <SaveAccount account={doing.account} onClose={stop} />}
      {doing?.what === 'delete' && <DeleteAccount account={doing.account} onClose={stop} />}
    </Page>
  )
}

function Accounts({ accounts, onDo }: { accounts: readonly AccountEntry[]; onDo: (doing: Doing) => void }) {
  return (
    <ListTable label={say.title}>
      <Table.Thead>
        <Table.Tr>
          <Table.Th>{say.name}</Table.Th>
          <Table.Th ta="right">{say.connections}</Table.Th>
          <Table.Th ta="right" visibleFrom="sm">
            {say.volume}
          </Table.Th>
          <Table.Th visibleFrom="md">{say.created}</Table.Th>
          <Table.Th w={56}>
            <VisuallyHidden>{components.actions}</VisuallyHidden>
          </Table.Th>
        </Table.Tr>
      </Table.Thead>
      <Table.Tbody>
        {accounts.map((account) => (
          <Table.Tr key={account.id}>
            <Table.Td style={{ overflowWrap: 'anywhere' }}>
              <Group gap="xs">
                <Anchor component={Link} to={`/accounts/${account.id}`} fw={550} fz="inherit">
                  {account.name}
                </Anchor>
                {!account.enabled && (
                  <Badge color="gray" variant="default">
                    {say.disabled}
                  </Badge>
                )}
              </Group>
            </Table.Td>
            <Table.Td ta="right">{count(Number(account.connections))}</Table.Td>
            <Table.Td ta="right" visibleFrom="sm">
              {count(account.volume)}
            </Table.Td>
            <Table.Td visibleFrom="md">
              <Time seconds={account.createdTime} />
            </Table.Td>
            <Table.Td>
              <Actions account={account} onDo={onDo} />
            </Table.Td>
          </Table.Tr>
        ))}
      </Table.Tbody>
    </ListTable>
  )
}

function Actions({ account, onDo }: { account: AccountEntry; onDo: (doing: Doing) => void }) {
  const edit = useWrite('editAccount')
  const forbidden = useForbidden('editAccount')
  const toggle = () =>
    edit
      .mutateAsync({ id: account.id, body: { enabled: !account.enabled } })
      .then(() => notifyDone(account.enabled ? say.disabledNow(account.name) : say.enabledNow(account.name)))
      .catch(notifyFailure)
  return (
    <Menu position="bottom-end">
      <Menu.Target>
        <ActionIcon variant="subtle" color="gray" aria-label={say.actions(account.name)} loading={edit.isPending}>
          <IconDots size={18} aria-hidden />
        </ActionIcon>
      </Menu.Target>
      <Menu.Dropdown>
        <Menu.Item component={Link} to={`/accounts/${account.id}`}>
          {say.open}
        </Menu.Item>
        <ReasonedItem reason={forbidden} onClick={() => onDo({ what: 'edit', account })}>
          {say.edit}
        </ReasonedItem>
        <ReasonedItem reason={forbidden} onClick={() => void toggle()}>
          {account.enabled ? say.disable : say.enable}
        </ReasonedItem>
        <Menu.Divider />
        <ReasonedItem reason={forbidden} destructive onClick={() => onDo({ what: 'delete', account })}>
          {say.delete}
        </ReasonedItem>
      </Menu.Dropdown>
    </Menu>
  )
}
