import { Badge, Box, Code, Group, Stack, Text } from '@mantine/core'
import type { Client, Me } from '@penstock/wire'
import { type ReactNode, useSyncExternalStore } from 'react'
import { useForbidden, useMe } from '../../api/me.ts'
import { readOnce, useRead } from '../../api/queries.ts'
import { sessionStore } from '../../api/session.ts'
import { LimitedTo, Scopes } from '../../components/access.tsx'
import { type ListAddress, useAddress } from '../../components/address.ts'
import { type OpenDialog, useDialog } from '../../components/form-dialog.tsx'
import { Empty, Page, Toolbar } from '../../components/page.tsx'
import { foundOf } from '../../components/pager.tsx'
import { ActionsMenu, AddButton } from '../../components/reasoned.tsx'
import { ResourceTable } from '../../components/resource-table.tsx'
import { SearchBox } from '../../components/search-box.tsx'
import { Time, useNow } from '../../components/time.tsx'
import { apiKeys as say } from '../../strings/api-keys.ts'
import { CreateKey } from './create-key.tsx'
import { RenameKey } from './rename-key.tsx'
import { RevokeKey } from './revoke-key.tsx'
import { RotateKey } from './rotate-key.tsx'

const listOf = (address: ListAddress) => ({ query: foundOf(address) })
export const readAhead = (_: unknown, address: ListAddress) => readOnce('listClients', listOf(address))

/** The client credentials of the organization. */
export function Component() {
  const address = useAddress()
  const query = useRead('listClients', listOf(address), { keep: true })
  const q = address.value('q')
  const forbidden = useForbidden('createClient')
  const ownId = useSyncExternalStore(sessionStore.subscribe, sessionStore.read)
  const [dialog, open] = useDialog()
  const create = (
    <AddButton reason={forbidden} onClick={() => open((close) => <CreateKey onClose={close} />)}>
      {say.create}
    </AddButton>
  )
  return (
    <Page title={say.title} help={say.help} actions={create}>
      <Toolbar>
        <SearchBox label={say.search} />
      </Toolbar>
      <ResourceTable
        label={say.title}
        query={query}
        empty={<Empty title={q ? say.noneFound : say.none} action={q ? undefined : create} />}
        columns={[
          { header: say.name, wraps: true, cell: (client) => <Name client={client} isOwn={client.id === ownId} /> },
          {
            header: say.scopes,
            from: 'md',
            w: '34%',
            folded: true,
            cell: ({ scopes, accountIds }) => (
              <Stack gap={4}>
                <Scopes scopes={scopes} />
                <LimitedTo accountIds={accountIds} />
              </Stack>
            ),
          },
          {
            header: say.lastUsed,
            from: 'sm',
            folded: ({ lastUsedTime, expiresTime }) => (
              <Box c="dimmed">
                {say.lastUsed} <Time seconds={lastUsedTime} />
                <br />
                {say.expires} <Expiry seconds={expiresTime} />
              </Box>
            ),
            cell: ({ lastUsedTime }) => <Time seconds={lastUsedTime} />,
          },
          { header: say.expires, from: 'sm', cell: ({ expiresTime }) => <Expiry seconds={expiresTime} /> },
        ]}
        actions={(client) => <Actions client={client} open={open} />}
      />
      {dialog}
    </Page>
  )
}

function Name({ client: { id, name, previousSecretExpiresTime }, isOwn }: { client: Client; isOwn: boolean }) {
  return (
    <>
      <Group gap="xs">
        <Text span fw={550} {...(name === null ? { c: 'dimmed' } : {})}>
          {name ?? say.unnamed}
        </Text>
        {isOwn && <Badge variant="default">{say.thisOne}</Badge>}
      </Group>
      <Code fz="xs">{id}</Code>
      {previousSecretExpiresTime !== null && (
        <Text size="xs" c="dimmed" mt={2}>
          {say.previousSecret} <Time seconds={previousSecretExpiresTime} planned />
        </Text>
      )}
    </>
  )
}

/** @param seconds since 1970; null: never */
function Expiry({ seconds }: { seconds: number | null }) {
  const now = useNow()
  if (seconds !== null && seconds * 1000 <= now) {
    return (
      <Badge variant="dot" color="red" fw={500}>
        {say.expired}
      </Badge>
    )
  }
  return <Time seconds={seconds} planned />
}

/** Whether a key may do more than the one who is signed in, who cannot change it then. */
function mayMore({ scopes, accountIds }: Client, me: Me | undefined): boolean {
  const own = me?.scopes ?? null
  const isWider = own !== null && (scopes === null || scopes.some((scope) => !own.includes(scope)))
  return isWider || (accountIds === null && (me?.accountIds ?? null) !== null)
}

/** Identifiers that the service makes; the operator may have chosen others, which no address of the API names. */
const madeByService = /^[0-9a-f]{16}$/

function Actions({ client, open }: { client: Client; open: OpenDialog }) {
  const { id, name } = client
  const me = useMe()
  const forbidden = useForbidden('revokeClient')
  const reason = forbidden ?? (mayMore(client, me) ? say.mayMore : madeByService.test(id) ? undefined : say.byOperator)
  const opens = (Dialog: (props: { client: Client; onClose: () => void }) => ReactNode) => () =>
    open((close) => <Dialog client={client} onClose={close} />)
  return (
    <ActionsMenu
      label={say.actions(name ?? id)}
      groups={[
        [
          { label: say.rename, reason, onClick: opens(RenameKey) },
          { label: say.rotate, reason, onClick: opens(RotateKey) },
        ],
        [{ label: say.revoke, reason, destructive: true, onClick: opens(RevokeKey) }],
      ]}
    />
  )
}
