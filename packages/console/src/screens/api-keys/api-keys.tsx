import { ActionIcon, Badge, Box, Code, Group, Menu, Stack, Table, Text, VisuallyHidden } from '@mantine/core'
import type { Client, Me } from '@penstock/wire'
import { IconDots, IconPlus } from '@tabler/icons-react'
import { useState, useSyncExternalStore } from 'react'
import { useForbidden, useMe } from '../../api/me.ts'
import { readOnce, useRead } from '../../api/queries.ts'
import { sessionStore } from '../../api/session.ts'
import { LimitedTo, Scopes } from '../../components/access.tsx'
import { type ListAddress, useAddress } from '../../components/address.ts'
import { ListTable } from '../../components/list-table.tsx'
import { Empty, Page, Toolbar } from '../../components/page.tsx'
import { PagedList } from '../../components/paged-list.tsx'
import { pageSize } from '../../components/pager.tsx'
import { ReasonedButton, ReasonedItem } from '../../components/reasoned.tsx'
import { SearchBox } from '../../components/search-box.tsx'
import { Time, useNow } from '../../components/time.tsx'
import { apiKeys as say } from '../../strings/api-keys.ts'
import { components } from '../../strings/components.ts'
import { CreateKey } from './create-key.tsx'
import { RenameKey } from './rename-key.tsx'
import { RevokeKey } from './revoke-key.tsx'
import { RotateKey } from './rotate-key.tsx'

type Doing = { what: 'create' } | { what: 'rename' | 'rotate' | 'revoke'; client: Client }

const listOf = ({ value, page }: ListAddress) => ({
  query: { q: value('q') || undefined, size: pageSize, offset: page * pageSize },
})
export const readAhead = (_: unknown, place: ListAddress) => readOnce('listClients', listOf(place))

/** The client credentials of the organization. */
export function Component() {
  const address = useAddress()
  const query = useRead('listClients', listOf(address), { keep: true })
  const q = address.value('q')
  const forbidden = useForbidden('createClient')
  const [doing, setDoing] = useState<Doing>()
  const stop = () => setDoing(undefined)
  const create = (
    <ReasonedButton
      leftSection={<IconPlus size={18} aria-hidden />}
      reason={forbidden}
      onClick={() => setDoing({ what: 'create' })}
    >
      {say.create}
    </ReasonedButton>
  )
  return (
    <Page title={say.title} help={say.help} actions={create}>
      <Toolbar>
        <SearchBox label={say.search} />
      </Toolbar>
      <PagedList query={query} empty={<Empty title={q ? say.noneFound : say.none} action={q ? undefined : create} />}>
        {(reply) => <Keys clients={reply} onDo={setDoing} />}
      </PagedList>
      {doing?.what === 'create' && <CreateKey onClose={stop} />}
      {doing?.what === 'rename' && <RenameKey client={doing.client} onClose={stop} />}
      {doing?.what === 'rotate' && <RotateKey client={doing.client} onClose={stop} />}
      {doing?.what === 'revoke' && <RevokeKey client={doing.client} onClose={stop} />}
    </Page>
  )
}

function Keys({ clients, onDo }: { clients: readonly Client[]; onDo: (doing: Doing) => void }) {
  const ownId = useSyncExternalStore(sessionStore.subscribe, sessionStore.read)
  return (
    <ListTable label={say.title}>
      <Table.Thead>
        <Table.Tr>
          <Table.Th>{say.name}</Table.Th>
          <Table.Th visibleFrom="md" w="34%">
            {say.scopes}
          </Table.Th>
          <Table.Th visibleFrom="sm">{say.lastUsed}</Table.Th>
          <Table.Th visibleFrom="sm">{say.expires}</Table.Th>
          <Table.Th w={56}>
            <VisuallyHidden>{components.actions}</VisuallyHidden>
          </Table.Th>
        </Table.Tr>
      </Table.Thead>
      <Table.Tbody>
        {clients.map((client) => {
          const { id, name, scopes, accountIds, lastUsedTime, expiresTime } = client
          const granted = (
            <Stack gap={4}>
              <Scopes scopes={scopes} />
              <LimitedTo accountIds={accountIds} />
            </Stack>
          )
          return (
            <Table.Tr key={id}>
              <Table.Td style={{ overflowWrap: 'anywhere' }}>
                <Group gap="xs">
                  <Text span fw={550} {...(name === null ? { c: 'dimmed' } : {})}>
                    {name ?? say.unnamed}
                  </Text>
                  {id === ownId && <Badge variant="default">{say.thisOne}</Badge>}
                </Group>
                <Code fz="xs">{id}</Code>
                <PreviousSecret client={client} />
                <Box hiddenFrom="md" mt={6}>
                  {granted}
                </Box>
                <Box hiddenFrom="sm" mt={6} fz="sm" c="dimmed">
                  {say.lastUsed} <Time seconds={lastUsedTime} />
                  <br />
                  {say.expires} <Expiry seconds={expiresTime} />
                </Box>
              </Table.Td>
              <Table.Td visibleFrom="md">{granted}</Table.Td>
              <Table.Td visibleFrom="sm">
                <Time seconds={lastUsedTime} />
              </Table.Td>
              <Table.Td visibleFrom="sm">
                <Expiry seconds={expiresTime} />
              </Table.Td>
              <Table.Td>
                <Actions client={client} onDo={onDo} />
              </Table.Td>
            </Table.Tr>
          )
        })}
      </Table.Tbody>
    </ListTable>
  )
}

/** Until when the secret before the last rotation is accepted, while it is. */
function PreviousSecret({ client: { previousSecretExpiresTime } }: { client: Client }) {
  if (previousSecretExpiresTime === null) return null
  return (
    <Text size="xs" c="dimmed" mt={2}>
      {say.previousSecret} <Time seconds={previousSecretExpiresTime} planned />
    </Text>
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

function Actions({ client, onDo }: { client: Client; onDo: (doing: Doing) => void }) {
  const { id, name } = client
  const me = useMe()
  const forbidden = useForbidden('revokeClient')
  const reason = forbidden ?? (mayMore(client, me) ? say.mayMore : madeByService.test(id) ? undefined : say.byOperator)
  return (
    <Menu position="bottom-end">
      <Menu.Target>
        <ActionIcon variant="subtle" color="gray" aria-label={say.actions(name ?? id)}>
          <IconDots size={18} aria-hidden />
        </ActionIcon>
      </Menu.Target>
      <Menu.Dropdown>
        <ReasonedItem reason={reason} onClick={() => onDo({ what: 'rename', client })}>
          {say.rename}
        </ReasonedItem>
        <ReasonedItem reason={reason} onClick={() => onDo({ what: 'rotate', client })}>
          {say.rotate}
        </ReasonedItem>
        <Menu.Divider />
        <ReasonedItem reason={reason} destructive onClick={() => onDo({ what: 'revoke', client })}>
          {say.revoke}
        </ReasonedItem>
      </Menu.Dropdown>
    </Menu>
  )
}
