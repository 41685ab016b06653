import { ActionIcon, Anchor, Badge, Box, Menu, Stack, Table, Text, VisuallyHidden } from '@mantine/core'
import type { ConnectLink } from '@penstock/wire'
import { IconDots, IconPlus } from '@tabler/icons-react'
import { useState } from 'react'
import { Link } from 'react-router'
import { useForbidden } from '../../api/me.ts'
import { readOnce, useRead, useWrite } from '../../api/queries.ts'
import { type ListAddress, useAddress } from '../../components/address.ts'
import { Confirm } from '../../components/confirm.tsx'
import { ConnectorName, logoOfPlatform } from '../../components/connector-name.tsx'
import { ListTable } from '../../components/list-table.tsx'
import { notifyDone } from '../../components/notify.tsx'
import { Empty, Page } from '../../components/page.tsx'
import { PagedList } from '../../components/paged-list.tsx'
import { pageSize } from '../../components/pager.tsx'
import { ReasonedButton, ReasonedItem } from '../../components/reasoned.tsx'
import { Time } from '../../components/time.tsx'
import { pathOf, useAccount } from '../../shell/account.ts'
import { components } from '../../strings/components.ts'
import { connectLinks as say } from '../../strings/connect-links.ts'
import { CreateLink } from './create-link.tsx'
import { useCatalogue } from './use-catalogue.ts'

const listOf = (accountId: string, { page }: ListAddress) => ({
  accountId,
  query: { size: pageSize, offset: page * pageSize },
})
export const readAhead = (accountId = '', place: ListAddress) => readOnce('listConnectLinks', listOf(accountId, place))

/** The connect links of a sub-account. */
export function Component() {
  const { accountId } = useAccount()
  const query = useRead('listConnectLinks', listOf(accountId, useAddress()), { keep: true })
  const forbidden = useForbidden('createConnectLink')
  const [creating, setCreating] = useState(false)
  const [revoked, setRevoked] = useState<ConnectLink>()
  const create = (
    <ReasonedButton
      leftSection={<IconPlus size={18} aria-hidden />}
      reason={forbidden}
      onClick={() => setCreating(true)}
    >
      {say.create}
    </ReasonedButton>
  )
  return (
    <Page title={say.title} help={say.help} actions={create}>
      <PagedList query={query} empty={<Empty title={say.none} help={say.noneHelp} action={create} />}>
        {(reply) => <Links links={reply} accountId={accountId} onRevoke={setRevoked} />}
      </PagedList>
      {creating && <CreateLink accountId={accountId} onClose={() => setCreating(false)} />}
      {revoked && <Revoke link={revoked} onClose={() => setRevoked(undefined)} />}
    </Page>
  )
}

const colors = {
  pending: 'gray',
  opened: 'water',
  completed: 'teal',
  cancelled: 'gray',
  expired: 'gray',
  revoked: 'gray',
} as const

/** Whether a link can still be used. */
const isLive = ({ status }: ConnectLink) => status === 'pending' || status === 'opened'

function Links({
  links,
  accountId,
  onRevoke,
}: {
  links: readonly ConnectLink[]
  accountId: string
  onRevoke: (link: ConnectLink) => void
}) {
  const catalogue = useCatalogue(accountId)
  const forbidden = useForbidden('revokeConnectLink')
  const entryOf = (id: string) => catalogue?.find(({ connectorId }) => connectorId === id)
  const nameOf = (id: string) => (catalogue ? (entryOf(id)?.name ?? id) : '…')
  return (
    <ListTable label={say.title}>
      <Table.Thead>
        <Table.Tr>
          <Table.Th>{say.connectors}</Table.Th>
          <Table.Th w={150}>{say.state}</Table.Th>
          <Table.Th visibleFrom="md" w={160}>
            {say.createdTime}
          </Table.Th>
          <Table.Th visibleFrom="sm" w={160}>
            {say.ends}
          </Table.Th>
          <Table.Th w={56}>
            <VisuallyHidden>{components.actions}</VisuallyHidden>
          </Table.Th>
        </Table.Tr>
      </Table.Thead>
      <Table.Tbody>
        {links.map((link) => {
          const { id, connectorIds, connectionTemplate, connectionId, status, createdTime } = link
          return (
            <Table.Tr key={id}>
              <Table.Td style={{ overflowWrap: 'anywhere' }}>
                <Stack gap={4}>
                  {connectorIds.map((one) => (
                    <ConnectorName key={one} logo={logoOfPlatform(entryOf(one)?.platformId ?? '')} name={nameOf(one)} />
                  ))}
                </Stack>
                {connectionTemplate && (
                  <Text size="xs" c="dimmed" mt={4}>
                    {connectionId ? (
                      <Anchor component={Link} to={`${pathOf(accountId, 'connections')}/${connectionId}`} fz="inherit">
                        {connectionTemplate.name}
                      </Anchor>
                    ) : (
                      `${say.connection}: ${connectionTemplate.name}`
                    )}
                  </Text>
                )}
              </Table.Td>
              <Table.Td>
                <Badge variant="dot" color={colors[status]} fw={500}>
                  {say.status[status]}
                </Badge>
                <Box hiddenFrom="sm" mt={4} fz="xs" c="dimmed">
                  <Ends link={link} />
                </Box>
              </Table.Td>
              <Table.Td visibleFrom="md">
                <Time seconds={createdTime} />
              </Table.Td>
              <Table.Td visibleFrom="sm">
                <Ends link={link} />
              </Table.Td>
              <Table.Td>
                <Menu position="bottom-end">
                  <Menu.Target>
                    <ActionIcon
                      variant="subtle"
                      color="gray"
                      aria-label={say.actions(connectorIds.map(nameOf).join(', '))}
                    >
                      <IconDots size={18} aria-hidden />
                    </ActionIcon>
                  </Menu.Target>
                  <Menu.Dropdown>
                    {connectionId && (
                      <Menu.Item component={Link} to={`${pathOf(accountId, 'connections')}/${connectionId}`}>
                        {say.openConnection}
                      </Menu.Item>
                    )}
                    <ReasonedItem
                      reason={forbidden ?? (isLive(link) ? undefined : say.alreadyEnded)}
                      destructive
                      onClick={() => onRevoke(link)}
                    >
                      {say.revoke}
                    </ReasonedItem>
                  </Menu.Dropdown>
                </Menu>
              </Table.Td>
            </Table.Tr>
          )
        })}
      </Table.Tbody>
    </ListTable>
  )
}

/** When a link ends, or has been finished. Of one that was taken back it is not known when. */
function Ends({ link }: { link: ConnectLink }) {
  if (link.status === 'revoked') return '–'
  return <Time seconds={link.finishedTime ?? link.expiresTime} planned={isLive(link)} />
}

function Revoke({ link: { id }, onClose }: { link: ConnectLink; onClose: () => void }) {
  const revoke = useWrite('revokeConnectLink')
  return (
    <Confirm
      title={say.revokeTitle}
      action={say.revoke}
      onClose={onClose}
      onConfirm={async () => {
        await revoke.mutateAsync({ id })
        notifyDone(say.revoked)
      }}
    >
      {say.revokeHelp}
    </Confirm>
  )
}
