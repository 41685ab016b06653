import { Stack, Text } from '@mantine/core'
import { limits, type Purpose } from '@penstock/wire'
import { useForbidden } from '../../api/me.ts'
import { readOnce, useRead } from '../../api/queries.ts'
import { ConfirmWrite } from '../../components/confirm.tsx'
import { useDialog } from '../../components/form-dialog.tsx'
import { Empty, Page } from '../../components/page.tsx'
import { ActionsMenu, AddButton } from '../../components/reasoned.tsx'
import { ResourceTable } from '../../components/resource-table.tsx'
import { useAccount } from '../../shell/account.ts'
import { consent as say } from '../../strings/consent.ts'
import { EditPurpose, storedOf } from './edit-purpose.tsx'

const listOf = (accountId: string) => ({ accountId, query: { size: limits.purposesMax } })
export const readAhead = (accountId = '') => readOnce('listPurposes', listOf(accountId))

/** The consent purposes of a sub-account. */
export function Component() {
  const { accountId } = useAccount()
  const query = useRead('listPurposes', listOf(accountId), { keep: true })
  const reason = useForbidden('setPurposes')
  const [dialog, open] = useDialog()
  const purposes = query.data?.reply ?? []
  const edit = (purpose?: Purpose) =>
    open((close) => <EditPurpose accountId={accountId} all={purposes} purpose={purpose} onClose={close} />)
  const remove = (purpose: Purpose) =>
    open((close) => (
      <ConfirmWrite
        operation="setPurposes"
        parameters={{
          accountId,
          body: { purposes: purposes.filter(({ name }) => name !== purpose.name).map(storedOf) },
        }}
        title={say.removeTitle(purpose.name)}
        action={say.remove}
        done={say.removed(purpose.name)}
        onClose={close}
      >
        {purposes.length === 1 ? say.removeLastHelp : say.removeHelp}
      </ConfirmWrite>
    ))
  const add = (
    <AddButton reason={reason} onClick={() => edit()}>
      {say.add}
    </AddButton>
  )
  return (
    <Page title={say.title} help={say.help} actions={add}>
      <ResourceTable
        label={say.title}
        query={query}
        empty={<Empty title={say.none} help={say.noneHelp} action={add} />}
        columns={[
          { header: say.name, wraps: true, cell: ({ name }) => <Text fw={500}>{name}</Text> },
          {
            header: say.columns,
            wraps: true,
            cell: ({ signals }) => (
              <Stack gap={2}>
                {signals.map(({ kind, column }) => (
                  <Text key={`${kind} ${column}`} size="sm">
                    {column} <Text span c="dimmed" size="xs">{`· ${say.kinds[kind]}`}</Text>
                  </Text>
                ))}
              </Stack>
            ),
          },
          {
            header: say.fills,
            wraps: true,
            cell: ({ uses }) => (uses.length > 0 ? uses.map((use) => say.useNames[use]).join(', ') : '–'),
          },
          { header: say.connections, cell: ({ connections }) => connections },
        ]}
        keyOf={({ name }) => name}
        actions={(purpose) => (
          <ActionsMenu
            label={say.actions(purpose.name)}
            groups={[
              [
                { label: say.edit, reason, onClick: () => edit(purpose) },
                { label: say.remove, reason, destructive: true, onClick: () => remove(purpose) },
              ],
            ]}
          />
        )}
      />
      {dialog}
    </Page>
  )
}
