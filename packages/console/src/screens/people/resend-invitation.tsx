import { Modal } from '@mantine/core'
import type { InvitedUser, User } from '@penstock/wire'
import { useEffect, useRef, useState } from 'react'
import { useWrite } from '../../api/queries.ts'
import { Failure } from '../../components/failure.tsx'
import { Lines } from '../../components/loaded.tsx'
import { people as say } from '../../strings/people.ts'
import { InvitationLink } from './invitation-link.tsx'

/** Makes another link for a person who has not accepted yet, and shows it. */
export function ResendInvitation({ user, onClose }: { user: User; onClose: () => void }) {
  const { mutateAsync, error } = useWrite('resendInvitation')
  const [invited, setInvited] = useState<InvitedUser>()
  const asked = useRef(false)
  useEffect(() => {
    // Once: each link makes the one before invalid.
    if (asked.current) return
    asked.current = true
    mutateAsync({ id: user.id }).then(
      ({ reply }) => setInvited(reply),
      () => {},
    )
  }, [mutateAsync, user.id])
  if (invited) return <InvitationLink invited={invited} onClose={onClose} />
  return (
    <Modal opened onClose={onClose} title={say.resend}>
      {error ? <Failure error={error} /> : <Lines lines={2} />}
    </Modal>
  )
}
