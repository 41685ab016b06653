import { Modal, Stack, TextInput } from '@mantine/core'
import { type InvitedUser, limits, type UserRole, userRoleNames } from '@penstock/wire'
import { type FormEvent, useState } from 'react'
import { useMe } from '../../api/me.ts'
import { useWrite } from '../../api/queries.ts'
import { Failure } from '../../components/failure.tsx'
import { FormButtons } from '../../components/form-buttons.tsx'
import { LimitAccounts } from '../../components/limit-accounts.tsx'
import { errorOfField } from '../../components/new-password.tsx'
import { PickRole } from '../../components/pick-role.tsx'
import { people as say } from '../../strings/people.ts'
import { InvitationLink } from './invitation-link.tsx'

/** Invites a person, and shows the link of the invitation. */
export function InvitePerson({ onClose }: { onClose: () => void }) {
  const invite = useWrite('inviteUser')
  const limited = (useMe()?.accountIds ?? null) !== null
  const [email, setEmail] = useState('')
  const [name, setName] = useState('')
  const [role, setRole] = useState<UserRole>('viewer')
  const [accountIds, setAccountIds] = useState<readonly string[] | null>(limited ? [] : null)
  const [tried, setTried] = useState(false)
  const [invited, setInvited] = useState<InvitedUser>()
  const granted = role === 'owner' ? null : accountIds
  const isIncomplete = granted?.length === 0
  const submit = (event: FormEvent) => {
    event.preventDefault()
    setTried(true)
    if (isIncomplete) return
    const body = {
      email: email.trim(),
      role,
      accountIds: granted && [...granted],
      ...(name.trim() && { name: name.trim() }),
    }
    invite.mutate({ body }, { onSuccess: ({ reply }) => setInvited(reply) })
  }
  if (invited) return <InvitationLink invited={invited} onClose={onClose} />
  const errors = { email: errorOfField(invite.error, 'email'), name: errorOfField(invite.error, 'name') }
  return (
    <Modal opened onClose={onClose} title={say.invite} size="lg">
      <form onSubmit={submit}>
        <Stack>
          <TextInput
            type="email"
            label={say.email}
            required
            maxLength={limits.emailLengthMax}
            autoComplete="off"
            data-autofocus
            value={email}
            error={errors.email}
            onChange={({ currentTarget }) => setEmail(currentTarget.value)}
          />
          <TextInput
            label={say.name}
            description={say.nameHelp}
            maxLength={limits.nameLengthMax}
            autoComplete="off"
            value={name}
            error={errors.name}
            onChange={({ currentTarget }) => setName(currentTarget.value)}
          />
          <PickRole value={role} roles={userRoleNames} onChange={setRole} />
          {role !== 'owner' && (
            <LimitAccounts
              value={accountIds}
              error={tried && isIncomplete ? say.chooseAccount : undefined}
              onChange={setAccountIds}
            />
          )}
          {invite.error && !errors.email && !errors.name && <Failure error={invite.error} />}
          <FormButtons busy={invite.isPending} action={say.sendInvitation} onCancel={onClose} />
        </Stack>
      </form>
    </Modal>
  )
}
