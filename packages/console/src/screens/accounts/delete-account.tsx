import { List, Stack, Text } from '@mantine/core'
import type { AccountEntry } from '@penstock/wire'
import { useRead } from '../../api/queries.ts'
import { ConfirmWrite } from '../../components/confirm.tsx'
import { Loaded } from '../../components/loaded.tsx'
import { count } from '../../components/numbers.ts'
import { accounts as say } from '../../strings/accounts.ts'

const named = 5

/** Deletes a sub-account, after saying what goes with it. */
export function DeleteAccount({
  account,
  onClose,
}: {
  account: Pick<AccountEntry, 'id' | 'name'>
  onClose: () => void
}) {
  const connections = useRead('listConnections', { accountId: account.id, query: { size: named } })
  const connectors = useRead('listAddedConnectors', { accountId: account.id, query: { size: named } })
  const names = (all: readonly { name: string }[], total: number) =>
    ` (${all.map(({ name }) => name).join(', ')}${total > all.length ? ' …' : ''})`
  return (
    <ConfirmWrite
      title={say.deleteTitle(account.name)}
      action={say.delete}
      name={account.name}
      operation="deleteAccount"
      parameters={{ id: account.id }}
      done={say.deleted(account.name)}
      onClose={onClose}
    >
      <Stack gap="sm">
        <Text size="sm">{say.deleteHelp}</Text>
        <Text size="sm" fw={600}>
          {say.goesWithIt}
        </Text>
        <Loaded query={connections} lines={1}>
          {({ reply, total }) => (
            <List size="sm">
              <List.Item style={{ overflowWrap: 'anywhere' }}>
                {say.connectionsGo(count(total))}
                {total > 0 && names(reply, total)}
              </List.Item>
              {connectors.data && (
                <List.Item style={{ overflowWrap: 'anywhere' }}>
                  {say.connectorsGo(count(connectors.data.total))}
                  {connectors.data.total > 0 && names(connectors.data.reply, connectors.data.total)}
                </List.Item>
              )}
            </List>
          )}
        </Loaded>
      </Stack>
    </ConfirmWrite>
  )
}
