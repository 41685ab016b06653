import { Alert, Button, Group, Modal, Stack, Text } from '@mantine/core'
import { type InvitedUser, limits } from '@penstock/wire'
import { IconMail, IconMailOff } from '@tabler/icons-react'
import { CopyField } from '../../components/copy-field.tsx'
import { people as say } from '../../strings/people.ts'

/** The link of an invitation, which is shown once: only the button and the cross close it. */
export function InvitationLink({
  invited: { user, link, mailed },
  onClose,
}: {
  invited: InvitedUser
  onClose: () => void
}) {
  const Icon = mailed ? IconMail : IconMailOff
  return (
    <Modal
      opened
      onClose={onClose}
      title={say.invitedTitle(user.email)}
      size="lg"
      closeOnClickOutside={false}
      closeOnEscape={false}
    >
      <Stack>
        <Alert
          color={mailed ? 'teal' : 'yellow'}
          icon={<Icon aria-hidden />}
          styles={{ message: { color: 'var(--mantine-color-text)' } }}
        >
          {mailed ? say.linkMailed : say.linkNotMailed}
        </Alert>
        <CopyField label={say.link} value={link} />
        <Text size="sm" c="dimmed">
          {say.linkHelp(limits.invitationDays)}
        </Text>
        <Group justify="flex-end">
          <Button onClick={onClose}>{say.done}</Button>
        </Group>
      </Stack>
    </Modal>
  )
}
