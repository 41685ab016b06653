import { type User, userRoleNames } from '@penstock/wire'
import { useState } from 'react'
import { useWrite } from '../../api/queries.ts'
import { FormDialog } from '../../components/form-dialog.tsx'
import { LimitAccounts } from '../../components/limit-accounts.tsx'
import { PickRole } from '../../components/pick-role.tsx'
import { people as say } from '../../strings/people.ts'

/** Changes the role of a person, and the sub-accounts that they are limited to. */
export function ChangePerson({ user, onClose }: { user: User; onClose: () => void }) {
  const update = useWrite('updateUser')
  const name = user.name ?? user.email
  const [role, setRole] = useState(user.role)
  const [accountIds, setAccountIds] = useState<readonly string[] | null>(user.accountIds)
  const granted = role === 'owner' ? null : accountIds
  const save = async () => {
    await update.mutateAsync({ id: user.id, body: { role, accountIds: granted && [...granted] } })
    return say.changed(name)
  }
  return (
    <FormDialog
      title={say.changeTitle(name)}
      size="lg"
      invalid={{ accountIds: granted?.length === 0 && say.chooseAccount }}
      onSubmit={save}
      onClose={onClose}
    >
      {(errorOf) => (
        <>
          <PickRole value={role} roles={userRoleNames} onChange={setRole} />
          {role !== 'owner' && (
            <LimitAccounts value={accountIds} error={errorOf('accountIds')} onChange={setAccountIds} />
          )}
        </>
      )}
    </FormDialog>
  )
}
