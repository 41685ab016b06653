import { Anchor, Badge, Box, Table, VisuallyHidden } from '@mantine/core'
import { type Connection, limits } from '@penstock/wire'
import { IconRestore } from '@tabler/icons-react'
import { Link } from 'react-router'
import { useForbidden } from '../../api/me.ts'
import { AccountName } from '../../components/account-name.tsx'
import { ListTable } from '../../components/list-table.tsx'
import { ReasonedButton } from '../../components/reasoned.tsx'
import { Sides } from '../../components/sides.tsx'
import { Time, useNow } from '../../components/time.tsx'
import { components } from '../../strings/components.ts'
import { deleted as say } from '../../strings/deleted.ts'

const dayMs = 86_400_000
/** From here on the time that is left is shown as short. */
const shortDays = 7

/** A table of deleted connections, each with the time that is left to restore it. */
export function DeletedTable({
  connections,
  showsAccount,
  restoring,
  onRestore,
}: {
  connections: readonly Connection[]
  showsAccount: boolean
  /** The one that is being restored now. */
  restoring: string | undefined
  onRestore: (connection: Connection) => void
}) {
  return (
    <ListTable label={say.title} layout="fixed">
      <Table.Thead>
        <Table.Tr>
          <Table.Th>{say.name}</Table.Th>
          <Table.Th visibleFrom="md" w="28%">
            {say.sides}
          </Table.Th>
          <Table.Th visibleFrom="lg" w={150}>
            {say.deletedAt}
          </Table.Th>
          <Table.Th visibleFrom="sm" w={170}>
            {say.daysLeft}
          </Table.Th>
          <Table.Th w={136}>
            <VisuallyHidden>{components.actions}</VisuallyHidden>
          </Table.Th>
        </Table.Tr>
      </Table.Thead>
      <Table.Tbody>
        {connections.map((connection) => {
          const { id, accountId, name, src, dest, updatedTime } = connection
          return (
            <Table.Tr key={id}>
              <Table.Td>
                <Anchor
                  component={Link}
                  to={`/accounts/${accountId}/connections/${id}`}
                  fw={550}
                  fz="inherit"
                  lineClamp={2}
                  style={{ overflowWrap: 'anywhere' }}
                >
                  {name}
                </Anchor>
                {showsAccount && (
                  <Box fz="sm">
                    <AccountName accountId={accountId} page="deleted" />
                  </Box>
                )}
                <Box hiddenFrom="md" fz="sm" c="dimmed" mt={2}>
                  <Sides src={src} dest={dest} size={16} wraps />
                </Box>
                <Box hiddenFrom="sm" mt={6}>
                  <TimeLeft deletedTime={updatedTime} />
                </Box>
              </Table.Td>
              <Table.Td visibleFrom="md">
                <Sides src={src} dest={dest} />
              </Table.Td>
              <Table.Td visibleFrom="lg">
                <Time seconds={updatedTime} />
              </Table.Td>
              <Table.Td visibleFrom="sm">
                <TimeLeft deletedTime={updatedTime} />
              </Table.Td>
              <Table.Td ta="right">
                <Restore connection={connection} isBusy={restoring === id} onRestore={onRestore} />
              </Table.Td>
            </Table.Tr>
          )
        })}
      </Table.Tbody>
    </ListTable>
  )
}

/** @param deletedTime seconds since 1970; nothing of a deleted connection changes after it */
function TimeLeft({ deletedTime }: { deletedTime: number }) {
  // The clock of the page may be some seconds behind.
  const days = limits.restoreWindowDays - Math.max(0, useNow() - deletedTime * 1000) / dayMs
  return (
    <Badge variant="dot" color={days < shortDays ? 'orange' : 'gray'} fw={500} display="flex" w="fit-content">
      {days <= 1 ? say.lastDay : say.left(Math.ceil(days))}
    </Badge>
  )
}

function Restore({
  connection,
  isBusy,
  onRestore,
}: {
  connection: Connection
  isBusy: boolean
  onRestore: (connection: Connection) => void
}) {
  const { name, editable, env } = connection
  const forbidden = useForbidden('restoreConnection')
  const reason = forbidden ?? (editable ? undefined : say.otherEnvironment(env))
  return (
    <ReasonedButton
      variant="light"
      size="xs"
      leftSection={<IconRestore size={16} aria-hidden />}
      aria-label={say.restoreNamed(name)}
      loading={isBusy}
      reason={reason}
      onClick={() => onRestore(connection)}
    >
      {say.restore}
    </ReasonedButton>
  )
}
