import { Button, Group, Text } from '@mantine/core'
import { notifications } from '@mantine/notifications'
import { components } from '../strings/components.ts'
import { describe } from './describe.ts'

const doneMs = 5_000
const nextMs = 10_000

/** Says that something was done; with `next`, how to take it back, or what else can be done now, which `label` says. */
export function notifyDone(message: string, next?: () => unknown, label = components.undo): void {
  const id = notifications.show({
    message: next ? (
      <Group justify="space-between" wrap="nowrap">
        <Text size="sm" miw={0} style={{ overflowWrap: 'anywhere' }}>
          {message}
        </Text>
        <Button
          size="compact-sm"
          variant="light"
          style={{ flex: 'none' }}
          onClick={() => {
            notifications.hide(id)
            Promise.resolve().then(next).catch(notifyFailure)
          }}
        >
          {label}
        </Button>
      </Group>
    ) : (
      message
    ),
    color: 'teal',
    autoClose: next ? nextMs : doneMs,
    closeButtonProps: { 'aria-label': components.close },
  })
}

/** Says what did not happen, and what to do, if that has no place of its own on the page. */
export function notifyProblem(title: string, message: string): void {
  notifications.show({
    title,
    message,
    color: 'yellow',
    autoClose: false,
    closeButtonProps: { 'aria-label': components.close },
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
      requestId && components.requestId(requestId),
    ]
      .filter(Boolean)
      .join(' · '),
    color: 'red',
    autoClose: false,
    closeButtonProps: { 'aria-label': components.close },
  })
}
