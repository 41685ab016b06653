import { Alert, Button, Group, Modal, Stack } from '@mantine/core'
import type { ClientWithSecret } from '@penstock/wire'
import { IconAlertTriangle } from '@tabler/icons-react'
import { CopyField } from '../../components/copy-field.tsx'
import { apiKeys as say } from '../../strings/api-keys.ts'

/** The new secret of an API key, which is shown once: only the button and the cross close it. */
export function SecretShown({
  title,
  client: { id, clientSecret },
  onClose,
}: {
  title: string
  client: ClientWithSecret
  onClose: () => void
}) {
  return (
    <Modal opened onClose={onClose} title={title} size="lg" closeOnClickOutside={false} closeOnEscape={false}>
      <Stack>
        <Alert
          color="yellow"
          icon={<IconAlertTriangle aria-hidden />}
          title={say.secretTitle}
          styles={{ message: { color: 'var(--mantine-color-text)' } }}
        >
          {say.secretHelp}
        </Alert>
        <CopyField label={say.clientId} value={id} />
        <CopyField label={say.clientSecret} value={clientSecret} />
        <Group justify="flex-end">
          <Button onClick={onClose}>{say.secretStored}</Button>
        </Group>
      </Stack>
    </Modal>
  )
}
