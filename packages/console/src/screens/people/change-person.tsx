import { Modal, Stack } from '@mantine/core'
import { type User, userRoleNames } from '@penstock/wire'
import { type FormEvent, useState } from 'react'
import { useWrite } from '../../api/queries.ts'
import { Failure } from '../../components/failure.tsx'
import { FormButtons } from '../../components/form-buttons.tsx'
import { LimitAccounts } from '../../components/limit-accounts.tsx'
import { notifyDone } from '../../components/notify.tsx'
import { PickRole } from '../../components/pick-role.tsx'
import { people as say } from '../../strings/people.ts'

/** Changes the role of a person, and the sub-accounts that they are limited to. */
export function ChangePerson({ user, onClose }: { user: User; onClose: () => void }) {
  const update = useWrite('updateUser')
  const name = user.name ?? user.email
  const [role, setRole] = useState(user.role)
  const [accountIds, setAccountIds] = useState<readonly string[] | null>(user.accountIds)
  const [tried, setTried] = useState(false)
  const granted = role === 'owner' ? null : accountIds
  const isIncomplete = granted?.length === 0
  const submit = (event: FormEvent) => {
    event.preventDefault()
    setTried(true)
    if (isIncomplete) return
    const done = () => {
      notifyDone(say.changed(name))
      onClose()
    }
    update.mutate({ id: user.id, body: { role, accountIds: granted && [...granted] } }, { onSuccess: done })
  }
  return (
    <Modal opened onClose={onClose} title={say.changeTitle(name)} size="lg">
      <form onSubmit={submit}>
        <Stack>
          <PickRole value={role} roles={userRoleNames} onChange={setRole} />
          {role !== 'owner' && (
            <LimitAccounts
              value={accountIds}
              error={tried && isIncomplete ? say.chooseAccount : undefined}
              onChange={setAccountIds}
            />
          )}
          {update.error && <Failure error={update.error} />}
          <FormButtons busy={update.isPending} onCancel={onClose} />
        </Stack>
      </form>
    </Modal>
  )
}
