import { Anchor, Badge, Box, Stack, Text } from '@mantine/core'
import type { ConnectLink } from '@penstock/wire'
import { Link } from 'react-router'
import { useForbiddenOf } from '../../api/me.ts'
import { readOnce, useRead } from '../../api/queries.ts'
import { type ListAddress, useAddress } from '../../components/address.ts'
import { ConfirmWrite } from '../../components/confirm.tsx'
import { ConnectorName, logoOfPlatform } from '../../components/connector-name.tsx'
import { useDialog } from '../../components/form-dialog.tsx'
import { Empty, Page } from '../../components/page.tsx'
import { pageOf } from '../../components/pager.tsx'
import { ActionsMenu, AddButton } from '../../components/reasoned.tsx'
import { ResourceTable } from '../../components/resource-table.tsx'
import { Time } from '../../components/time.tsx'
import { pathOf, useAccount } from '../../shell/account.ts'
import { connectLinks as say } from '../../strings/connect-links.ts'
import { CreateLink, useCatalogue } from './create-link.tsx'

const listOf = (accountId: string, address: ListAddress) => ({ accountId, query: pageOf(address) })
export const readAhead = (accountId = '', address: ListAddress) =>
  readOnce('listConnectLinks', listOf(accountId, address))

/** The connect links of a sub-account. */
export function Component() {
  const { accountId } = useAccount()
  const query = useRead('listConnectLinks', listOf(accountId, useAddress()), { keep: true })
  const forbidden = useForbiddenOf()
  const catalogue = useCatalogue(accountId)
  const [dialog, open] = useDialog()
  const entryOf = (id: string) => catalogue?.find(({ connectorId }) => connectorId === id)
  const nameOf = (id: string) => (catalogue ? (entryOf(id)?.name ?? id) : '…')
  const toConnection = (id: string) => `${pathOf(accountId, 'connections')}/${id}`
  const create = (
    <AddButton
      reason={forbidden('createConnectLink')}
      onClick={() => open((close) => <CreateLink accountId={accountId} onClose={close} />)}
    >
      {say.create}
    </AddButton>
  )
  return (
    <Page title={say.title} help={say.help} actions={create}>
      <ResourceTable
        label={say.title}
        layout="fixed"
        query={query}
        empty={<Empty title={say.none} help={say.noneHelp} action={create} />}
        columns={[
          {
            header: say.connectors,
            wraps: true,
            cell: ({ connectorIds, connectionTemplate, connectionId }) => (
              <>
                <Stack gap={4}>
                  {connectorIds.map((one) => (
                    <ConnectorName key={one} logo={logoOfPlatform(entryOf(one)?.platformId ?? '')} name={nameOf(one)} />
                  ))}
                </Stack>
                {connectionTemplate && (
                  <Text size="xs" c="dimmed" mt={4}>
                    {connectionId ? (
                      <Anchor component={Link} to={toConnection(connectionId)} fz="inherit">
                        {connectionTemplate.name}
                      </Anchor>
                    ) : (
                      `${say.connection}: ${connectionTemplate.name}`
                    )}
                  </Text>
                )}
              </>
            ),
          },
          {
            header: say.state,
            w: 150,
            cell: (link) => (
              <>
                <Badge variant="dot" color={colors[link.status]} fw={500}>
                  {say.status[link.status]}
                </Badge>
                <Box hiddenFrom="sm" mt={4} fz="xs" c="dimmed">
                  <Ends link={link} />
                </Box>
              </>
            ),
          },
          { header: say.createdTime, from: 'md', w: 160, cell: ({ createdTime }) => <Time seconds={createdTime} /> },
          { header: say.ends, from: 'sm', w: 160, cell: (link) => <Ends link={link} /> },
        ]}
        actions={(link) => (
          <ActionsMenu
            label={say.actions(link.connectorIds.map(nameOf).join(', '))}
            groups={[
              [
                ...(link.connectionId ? [{ label: say.openConnection, to: toConnection(link.connectionId) }] : []),
                {
                  label: say.revoke,
                  reason: forbidden('revokeConnectLink') ?? (isLive(link) ? undefined : say.alreadyEnded),
                  destructive: true,
                  onClick: () => open((close) => <Revoke link={link} onClose={close} />),
                },
              ],
            ]}
          />
        )}
      />
      {dialog}
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

/** When a link ends, or has been finished. Of one that was taken back it is not known when. */
function Ends({ link }: { link: ConnectLink }) {
  if (link.status === 'revoked') return '–'
  return <Time seconds={link.finishedTime ?? link.expiresTime} planned={isLive(link)} />
}

function Revoke({ link: { id }, onClose }: { link: ConnectLink; onClose: () => void }) {
  return (
    <ConfirmWrite
      title={say.revokeTitle}
      action={say.revoke}
      operation="revokeConnectLink"
      parameters={{ id }}
      done={say.revoked}
      onClose={onClose}
    >
      {say.revokeHelp}
    </ConfirmWrite>
  )
}
