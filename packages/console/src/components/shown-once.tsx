import { Alert, Button, Group, Modal, Stack } from '@mantine/core'
import { IconAlertTriangle } from '@tabler/icons-react'
import type { ReactNode } from 'react'

/** A dialog for a secret that is shown once: only the button and the cross close it. */
export function ShownOnce({
  title,
  color = 'yellow',
  icon = <IconAlertTriangle aria-hidden />,
  warning,
  help,
  action,
  onClose,
  children,
}: {
  title: string
  color?: string
  icon?: ReactNode
  warning?: string
  help: string
  /** The text of the button. */
  action: string
  onClose: () => void
  children: ReactNode
}) {
  return (
    <Modal opened onClose={onClose} title={title} size="lg" closeOnClickOutside={false} closeOnEscape={false}>
      <Stack>
        <Alert color={color} icon={icon} title={warning}>
          {help}
        </Alert>
        {children}
        <Group justify="flex-end">
          <Button onClick={onClose}>{action}</Button>
        </Group>
      </Stack>
    </Modal>
  )
}
