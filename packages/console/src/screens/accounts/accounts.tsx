import { Badge, Group } from '@mantine/core'
import type { AccountEntry } from '@penstock/wire'
import { useForbidden } from '../../api/me.ts'
import { readOnce, useRead, useWrite } from '../../api/queries.ts'
import { type ListAddress, useAddress } from '../../components/address.ts'
import { type OpenDialog, useDialog } from '../../components/form-dialog.tsx'
import { notifyOutcome } from '../../components/notify.ts'
import { count } from '../../components/numbers.ts'
import { Empty, Page, Toolbar } from '../../components/page.tsx'
import { foundOf } from '../../components/pager.tsx'
import { ActionsMenu, AddButton } from '../../components/reasoned.tsx'
import { type Column, NameLink, ResourceTable } from '../../components/resource-table.tsx'
import { SearchBox } from '../../components/search-box.tsx'
import { Time } from '../../components/time.tsx'
import { accounts as say } from '../../strings/accounts.ts'
import { DeleteAccount } from './delete-account.tsx'
import { SaveAccount } from './save-account.tsx'

const listOf = (address: ListAddress) => ({ query: foundOf(address) })
export const readAhead = (_: unknown, address: ListAddress) => readOnce('listAccounts', listOf(address))

const columns: readonly Column<AccountEntry>[] = [
  {
    header: say.name,
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
  { header: say.connections, right: true, cell: ({ connections }) => count(Number(connections)) },
  { header: say.volume, right: true, from: 'sm', cell: ({ volume }) => count(volume) },
  { header: say.created, from: 'md', cell: ({ createdTime }) => <Time seconds={createdTime} /> },
]

/** The sub-accounts of the organization. */
export function Component() {
  const address = useAddress()
  const query = useRead('listAccounts', listOf(address), { keep: true })
  const forbidden = useForbidden('addAccount')
  const [dialog, open] = useDialog()
  const add = (
    <AddButton reason={forbidden} onClick={() => open((close) => <SaveAccount onClose={close} />)}>
      {say.add}
    </AddButton>
  )
  return (
    <Page title={say.title} actions={add}>
      <Toolbar>
        <SearchBox label={say.search} />
      </Toolbar>
      <ResourceTable
        label={say.title}
        query={query}
        lines={8}
        empty={
          address.value('q') ? (
            <Empty title={say.noneFound} />
          ) : (
            <Empty title={say.none} help={say.noneHelp} action={add} />
          )
        }
        columns={columns}
        actions={(account) => <Actions account={account} open={open} />}
      />
      {dialog}
    </Page>
  )
}

function Actions({ account, open }: { account: AccountEntry; open: OpenDialog }) {
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
          { label: say.open, to: `/accounts/${id}` },
          { label: say.edit, reason, onClick: change },
          { label: enabled ? say.disable : say.enable, reason, onClick: toggle },
        ],
        [{ label: say.delete, reason, destructive: true, onClick: remove }],
      ]}
    />
  )
}
