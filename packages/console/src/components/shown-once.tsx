import { Alert, Button, Group, Modal, Stack } from '@mantine/core'
import { IconAlertTriangle } from '@tabler/icons-react'
import { type ReactNode, useRef } from 'react'
import { useFirstField } from './focus-return.ts'

/** A dialog for a secret that is shown once: only the button and the cross close it. */
export function ShownOnce({ title, ...shown }: Shown & { title: string }) {
  return (
    <Modal opened onClose={shown.onClose} title={title} size="lg" closeOnClickOutside={false} closeOnEscape={false}>
      <Content {...shown} />
    </Modal>
  )
}

type Shown = {
  color?: string
  icon?: ReactNode
  warning?: string
  help: string
  /** The text of the button. */
  action: string
  onClose: () => void
  children: ReactNode
}

/** The secret has the focus, and not the cross, which would close the dialog. */
function Content({
  color = 'yellow',
  icon = <IconAlertTriangle aria-hidden />,
  warning,
  help,
  action,
  onClose,
  children,
}: Shown) {
  const content = useRef<HTMLDivElement>(null)
  useFirstField(content)
  return (
    <Stack ref={content}>
      <Alert color={color} icon={icon} title={warning}>
        {help}
      </Alert>
      {children}
      <Group justify="flex-end">
        <Button onClick={onClose}>{action}</Button>
      </Group>
    </Stack>
  )
}
