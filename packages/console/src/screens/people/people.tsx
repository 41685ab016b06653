import { Badge, Group, Text } from '@mantine/core'
import type { User } from '@penstock/wire'
import type { ReactNode } from 'react'
import { useForbidden, useMe } from '../../api/me.ts'
import { readOnce, useRead } from '../../api/queries.ts'
import { LimitedTo } from '../../components/access.tsx'
import { type ListAddress, useAddress } from '../../components/address.ts'
import { ConfirmWrite } from '../../components/confirm.tsx'
import { type OpenDialog, useDialog } from '../../components/form-dialog.tsx'
import { Empty, Page, Toolbar } from '../../components/page.tsx'
import { foundOf } from '../../components/pager.tsx'
import { ActionsMenu, AddButton } from '../../components/reasoned.tsx'
import { ResourceTable } from '../../components/resource-table.tsx'
import { SearchBox } from '../../components/search-box.tsx'
import { Time, useNow } from '../../components/time.tsx'
import { access } from '../../strings/access.ts'
import { people as say } from '../../strings/people.ts'
import { ChangePerson } from './change-person.tsx'
import { InvitePerson } from './invite-person.tsx'
import { ResendInvitation } from './resend-invitation.tsx'

const listOf = (address: ListAddress) => ({ query: foundOf(address) })
export const readAhead = (_: unknown, address: ListAddress) => readOnce('listUsers', listOf(address))

/** The people of the organization. */
export function Component() {
  const address = useAddress()
  const query = useRead('listUsers', listOf(address), { keep: true })
  const forbidden = useForbidden('inviteUser')
  const me = useMe()
  const [dialog, open] = useDialog()
  const invite = (
    <AddButton reason={forbidden} onClick={() => open((close) => <InvitePerson onClose={close} />)}>
      {say.invite}
    </AddButton>
  )
  return (
    <Page title={say.title} help={say.help} actions={invite}>
      <Toolbar>
        <SearchBox label={say.search} />
      </Toolbar>
      <ResourceTable
        label={say.title}
        query={query}
        empty={
          address.value('q') ? (
            <Empty title={say.noneFound} />
          ) : (
            <Empty title={say.none} help={say.noneHelp} action={invite} />
          )
        }
        columns={[
          {
            header: say.person,
            wraps: true,
            cell: ({ id, name, email }) => (
              <>
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
              </>
            ),
          },
          {
            header: say.role,
            from: 'sm',
            folded: (user) => (
              <Group gap="xs">
                {access.role[user.role]} <Status user={user} />
              </Group>
            ),
            cell: ({ role }) => access.role[role],
          },
          {
            header: say.access,
            from: 'md',
            w: '24%',
            folded: true,
            cell: ({ accountIds }) => <LimitedTo accountIds={accountIds} />,
          },
          { header: say.status, from: 'sm', cell: (user) => <Status user={user} /> },
          {
            header: say.lastSignedIn,
            from: 'lg',
            cell: ({ lastSignedInTime }) => <Time seconds={lastSignedInTime} />,
          },
        ]}
        actions={(user) => <Actions user={user} open={open} />}
      />
      {dialog}
    </Page>
  )
}

function Status({ user: { status, invitationExpiresTime } }: { user: User }) {
  const now = useNow()
  const isOpen = invitationExpiresTime !== null && invitationExpiresTime * 1000 > now
  const [color, text] =
    status === 'active'
      ? (['teal', say.active] as const)
      : status === 'deactivated'
        ? (['gray', say.deactivated] as const)
        : isOpen
          ? (['water', say.invited] as const)
          : (['orange', say.invitationExpired] as const)
  return (
    <Badge variant="dot" color={color} fw={500}>
      {text}
    </Badge>
  )
}

type DialogProps = { user: User; onClose: () => void }

function Actions({ user, open }: { user: User; open: OpenDialog }) {
  const reasons = useReasons(user)
  const opens = (Dialog: (props: DialogProps) => ReactNode) => () =>
    open((close) => <Dialog user={user} onClose={close} />)
  return (
    <ActionsMenu
      label={say.actions(user.name ?? user.email)}
      width={280}
      groups={[
        [
          { label: say.change, reason: reasons.change, onClick: opens(ChangePerson) },
          { label: say.resend, reason: reasons.resend, onClick: opens(ResendInvitation) },
        ],
        [{ label: say.remove, reason: reasons.remove, destructive: true, onClick: opens(RemovePerson) }],
      ]}
    />
  )
}

/** Removes a person, after saying what ends with them. */
function RemovePerson({ user, onClose }: DialogProps) {
  const name = user.name ?? user.email
  return (
    <ConfirmWrite
      title={say.removeTitle(name)}
      action={say.remove}
      operation="removeUser"
      parameters={{ id: user.id }}
      done={say.removed(name)}
      onClose={onClose}
    >
      {user.status === 'invited' ? say.removeInvited : say.removeHelp}
    </ConfirmWrite>
  )
}

/** Why something cannot be done with a person; undefined if it can. */
function useReasons({ id, role, status }: User): Record<'change' | 'resend' | 'remove', string | undefined> {
  const me = useMe()
  const forbidden = useForbidden('updateUser')
  const isOwner = me?.kind === 'user' ? me.role === 'owner' : me?.scopes === null
  const general =
    forbidden ?? (me?.id === id ? say.notYourself : role === 'owner' && !isOwner ? say.onlyOwners : undefined)
  return {
    change: general,
    resend: general ?? (status === 'active' ? say.hasJoined : status === 'deactivated' ? say.isDeactivated : undefined),
    remove: general,
  }
}
