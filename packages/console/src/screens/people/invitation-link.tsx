import { Text } from '@mantine/core'
import { type InvitedUser, limits } from '@penstock/wire'
import { IconMail, IconMailOff } from '@tabler/icons-react'
import { CopyField } from '../../components/copy-field.tsx'
import { ShownOnce } from '../../components/shown-once.tsx'
import { people as say } from '../../strings/people.ts'

type Props = { invited: InvitedUser; onClose: () => void }

/** The link of an invitation. */
export function InvitationLink({ invited: { user, link, mailed }, onClose }: Props) {
  return (
    <ShownOnce
      title={say.invitedTitle(user.email)}
      color={mailed ? 'teal' : 'yellow'}
      icon={mailed ? <IconMail aria-hidden /> : <IconMailOff aria-hidden />}
      help={mailed ? say.linkMailed : say.linkNotMailed}
      action={say.done}
      onClose={onClose}
    >
      <CopyField label={say.link} value={link} />
      <Text size="sm" c="dimmed">
        {say.linkHelp(limits.invitationDays)}
      </Text>
    </ShownOnce>
  )
}
