import { ActionIcon, Badge, Box, Group, Menu, Table, Text, VisuallyHidden } from '@mantine/core'
import type { User } from '@penstock/wire'
import { IconDots, IconPlus } from '@tabler/icons-react'
import { useState } from 'react'
import { useForbidden, useMe } from '../../api/me.ts'
import { readOnce, useRead } from '../../api/queries.ts'
import { LimitedTo } from '../../components/access.tsx'
import { type ListAddress, useAddress } from '../../components/address.ts'
import { ListTable } from '../../components/list-table.tsx'
import { Empty, Page, Toolbar } from '../../components/page.tsx'
import { PagedList } from '../../components/paged-list.tsx'
import { pageSize } from '../../components/pager.tsx'
import { ReasonedButton, ReasonedItem } from '../../components/reasoned.tsx'
import { SearchBox } from '../../components/search-box.tsx'
import { Time, useNow } from '../../components/time.tsx'
import { access } from '../../strings/access.ts'
import { components } from '../../strings/components.ts'
import { people as say } from '../../strings/people.ts'
import { ChangePerson } from './change-person.tsx'
import { InvitePerson } from './invite-person.tsx'
import { RemovePerson } from './remove-person.tsx'
import { ResendInvitation } from './resend-invitation.tsx'

type Doing = { what: 'invite' } | { what: 'change' | 'resend' | 'remove'; user: User }

const listOf = ({ value, page }: ListAddress) => ({
  query: { q: value('q') || undefined, size: pageSize, offset: page * pageSize },
})
export const readAhead = (_: unknown, place: ListAddress) => readOnce('listUsers', listOf(place))

/** The people of the organization. */
export function Component() {
  const address = useAddress()
  const query = useRead('listUsers', listOf(address), { keep: true })
  const forbidden = useForbidden('inviteUser')
  const q = address.value('q')
  const [doing, setDoing] = useState<Doing>()
  const stop = () => setDoing(undefined)
  const invite = (
    <ReasonedButton
      leftSection={<IconPlus size={18} aria-hidden />}
      reason={forbidden}
      onClick={() => setDoing({ what: 'invite' })}
    >
      {say.invite}
    </ReasonedButton>
  )
  return (
    <Page title={say.title} help={say.help} actions={invite}>
      <Toolbar>
        <SearchBox label={say.search} />
      </Toolbar>
      <PagedList
        query={query}
        empty={q ? <Empty title={say.noneFound} /> : <Empty title={say.none} help={say.noneHelp} action={invite} />}
      >
        {(reply) => <People users={reply} onDo={setDoing} />}
      </PagedList>
      {doing?.what === 'invite' && <InvitePerson onClose={stop} />}
      {doing?.what === 'change' && <ChangePerson user={doing.user} onClose={stop} />}
      {doing?.what === 'resend' && <ResendInvitation user={doing.user} onClose={stop} />}
      {doing?.what === 'remove' && <RemovePerson user={doing.user} onClose={stop} />}
    </Page>
  )
}

function People({ users, onDo }: { users: readonly User[]; onDo: (doing: Doing) => void }) {
  const me = useMe()
  return (
    <ListTable label={say.title}>
      <Table.Thead>
        <Table.Tr>
          <Table.Th>{say.person}</Table.Th>
          <Table.Th visibleFrom="sm">{say.role}</Table.Th>
          <Table.Th visibleFrom="md" w="24%">
            {say.access}
          </Table.Th>
          <Table.Th visibleFrom="sm">{say.status}</Table.Th>
          <Table.Th visibleFrom="lg">{say.lastSignedIn}</Table.Th>
          <Table.Th w={56}>
            <VisuallyHidden>{components.actions}</VisuallyHidden>
          </Table.Th>
        </Table.Tr>
      </Table.Thead>
      <Table.Tbody>
        {users.map((user) => {
          const { id, email, name, role, accountIds, lastSignedInTime } = user
          return (
            <Table.Tr key={id}>
              <Table.Td style={{ overflowWrap: 'anywhere' }}>
                <Group gap="xs">
                  <Text span fw={550}>
                    {name ?? email}
                  </Text>
                  {id === me?.id && <Badge variant="default">{say.you}</Badge>}
                </Group>
                {name !== null && (
                  <Text size="sm" c="dimmed">
                    {email}
                  </Text>
                )}
                <Group hiddenFrom="sm" gap="xs" mt={6}>
                  <Text size="sm">{access.role[role]}</Text>
                  <Status user={user} />
                </Group>
                <Box hiddenFrom="md" mt={6}>
                  <LimitedTo accountIds={accountIds} />
                </Box>
              </Table.Td>
              <Table.Td visibleFrom="sm">{access.role[role]}</Table.Td>
              <Table.Td visibleFrom="md">
                <LimitedTo accountIds={accountIds} />
              </Table.Td>
              <Table.Td visibleFrom="sm">
                <Status user={user} />
              </Table.Td>
              <Table.Td visibleFrom="lg">
                <Time seconds={lastSignedInTime} />
              </Table.Td>
              <Table.Td>
                <Actions user={user} onDo={onDo} />
              </Table.Td>
            </Table.Tr>
          )
        })}
      </Table.Tbody>
    </ListTable>
  )
}

function Status({ user: { status, invitationExpiresTime } }: { user: User }) {
  const now = useNow()
  const isOpen = invitationExpiresTime !== null && invitationExpiresTime * 1000 > now
  const [color, text] =
    status === 'active'
      ? (['teal', say.active] as const)
      : isOpen
        ? (['water', say.invited] as const)
        : (['orange', say.invitationExpired] as const)
  return (
    <Badge variant="dot" color={color} fw={500}>
      {text}
    </Badge>
  )
}

function Actions({ user, onDo }: { user: User; onDo: (doing: Doing) => void }) {
  const reasons = useReasons(user)
  return (
    <Menu position="bottom-end" width={280}>
      <Menu.Target>
        <ActionIcon variant="subtle" color="gray" aria-label={say.actions(user.name ?? user.email)}>
          <IconDots size={18} aria-hidden />
        </ActionIcon>
      </Menu.Target>
      <Menu.Dropdown>
        <ReasonedItem reason={reasons.change} onClick={() => onDo({ what: 'change', user })}>
          {say.change}
        </ReasonedItem>
        <ReasonedItem reason={reasons.resend} onClick={() => onDo({ what: 'resend', user })}>
          {say.resend}
        </ReasonedItem>
        <Menu.Divider />
        <ReasonedItem reason={reasons.remove} destructive onClick={() => onDo({ what: 'remove', user })}>
          {say.remove}
        </ReasonedItem>
      </Menu.Dropdown>
    </Menu>
  )
}

/** Why something cannot be done with a person; undefined where it can. */
function useReasons({ id, role, status }: User): Record<'change' | 'resend' | 'remove', string | undefined> {
  const me = useMe()
  const forbidden = useForbidden('updateUser')
  const isOwner = me?.kind === 'user' ? me.role === 'owner' : me?.scopes === null
  const general =
    forbidden ?? (me?.id === id ? say.notYourself : role === 'owner' && !isOwner ? say.onlyOwners : undefined)
  return { change: general, resend: general ?? (status === 'active' ? say.hasJoined : undefined), remove: general }
}
