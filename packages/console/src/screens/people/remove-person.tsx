import type { User } from '@penstock/wire'
import { useWrite } from '../../api/queries.ts'
import { Confirm } from '../../components/confirm.tsx'
import { notifyDone } from '../../components/notify.tsx'
import { people as say } from '../../strings/people.ts'

/** Removes a person, after saying what ends with them. */
export function RemovePerson({ user, onClose }: { user: User; onClose: () => void }) {
  const remove = useWrite('removeUser')
  const name = user.name ?? user.email
  return (
    <Confirm
      title={say.removeTitle(name)}
      action={say.remove}
      onClose={onClose}
      onConfirm={async () => {
        await remove.mutateAsync({ id: user.id })
        notifyDone(say.removed(name))
      }}
    >
      {user.status === 'active' ? say.removeHelp : say.removeInvited}
    </Confirm>
  )
}
