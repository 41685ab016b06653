import { Alert, Button, Group, Modal, Stack } from '@mantine/core'
import { IconAlertTriangle } from '@tabler/icons-react'
import { CopyField } from '../../components/copy-field.tsx'
import { webhooks as say } from '../../strings/webhooks.ts'

/** The new secret of a webhook, which is shown once: only the button and the cross close it. */
export function WebhookSecret({ secret, onClose }: { secret: string; onClose: () => void }) {
  return (
    <Modal opened onClose={onClose} title={say.secretOf} size="lg" closeOnClickOutside={false} closeOnEscape={false}>
      <Stack>
        <Alert
          color="yellow"
          icon={<IconAlertTriangle aria-hidden />}
          title={say.secretTitle}
          styles={{ message: { color: 'var(--mantine-color-text)' } }}
        >
          {say.secretHelp}
        </Alert>
        <CopyField label={say.secret} value={secret} />
        <Group justify="flex-end">
          <Button onClick={onClose}>{say.secretStored}</Button>
        </Group>
      </Stack>
    </Modal>
  )
}
