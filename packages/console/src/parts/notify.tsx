import { Button, Group, Text } from '@mantine/core'
import { notifications } from '@mantine/notifications'
import { strings } from '../strings/index.ts'
import { describe } from './failure.tsx'

const doneMs = 5_000
const undoMs = 10_000

/** Says that something was done; with `undo`, how to take it back. */
export function notifyDone(message: string, undo?: () => Promise<unknown>): void {
  const id = notifications.show({
    message: undo ? (
      <Group justify="space-between" wrap="nowrap">
        <Text size="sm">{message}</Text>
        <Button
          size="compact-sm"
          variant="light"
          onClick={() => {
            notifications.hide(id)
            undo().catch(notifyFailure)
          }}
        >
          {strings.parts.undo}
        </Button>
      </Group>
    ) : (
      message
    ),
    color: 'teal',
    autoClose: undo ? undoMs : doneMs,
    closeButtonProps: { 'aria-label': strings.parts.close },
  })
}

/** Says that something failed which has no place of its own on the page. */
export function notifyFailure(error: unknown): void {
  const { title, help, details, requestId } = describe(error)
  notifications.show({
    title,
    message: [
      help,
      ...details.map(({ field, message }) => `${field} ${message}`),
      requestId && strings.parts.requestId(requestId),
    ]
      .filter(Boolean)
      .join(' · '),
    color: 'red',
    autoClose: false,
    closeButtonProps: { 'aria-label': strings.parts.close },
  })
}
