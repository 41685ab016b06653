import { TextInput } from '@mantine/core'
import { type InvitedUser, limits, type UserRole, userRoleNames } from '@penstock/wire'
import { useState } from 'react'
import { useMe } from '../../api/me.ts'
import { useWrite } from '../../api/queries.ts'
import { FormDialog } from '../../components/form-dialog.tsx'
import { LimitAccounts } from '../../components/limit-accounts.tsx'
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
  const [invited, setInvited] = useState<InvitedUser>()
  const granted = role === 'owner' ? null : accountIds
  const send = async () => {
    const named = name.trim() && { name: name.trim() }
    const body = { email: email.trim(), role, accountIds: granted && [...granted], ...named }
    setInvited((await invite.mutateAsync({ body })).reply)
  }
  if (invited) return <InvitationLink invited={invited} onClose={onClose} />
  return (
    <FormDialog
      title={say.invite}
      size="lg"
      action={say.sendInvitation}
      invalid={{ accountIds: granted?.length === 0 && say.chooseAccount }}
      onSubmit={send}
      onClose={onClose}
    >
      {(errorOf) => (
        <>
          <TextInput
            type="email"
            label={say.email}
            required
            maxLength={limits.emailLengthMax}
            autoComplete="off"
            data-autofocus
            value={email}
            error={errorOf('email')}
            onChange={({ currentTarget }) => setEmail(currentTarget.value)}
          />
          <TextInput
            label={say.name}
            description={say.nameHelp}
            maxLength={limits.nameLengthMax}
            autoComplete="off"
            value={name}
            error={errorOf('name')}
            onChange={({ currentTarget }) => setName(currentTarget.value)}
          />
          <PickRole value={role} roles={userRoleNames} onChange={setRole} />
          {role !== 'owner' && (
            <LimitAccounts value={accountIds} error={errorOf('accountIds')} onChange={setAccountIds} />
          )}
        </>
      )}
    </FormDialog>
  )
}
