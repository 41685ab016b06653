import { Alert, Button, Code, Group, List, Stack, Text } from '@mantine/core'
import { NoAnswerError, PenstockError } from '@penstock/client'
import { IconAlertTriangle, IconPlugConnectedX } from '@tabler/icons-react'
import { components } from '../strings/components.ts'

/** Says what went wrong, what to do, and by which request the operator finds it in the log. */
export function Failure({ error, onRetry }: { error: unknown; onRetry?: (() => void) | undefined }) {
  const { title, help, details, requestId } = describe(error)
  const Icon = error instanceof NoAnswerError ? IconPlugConnectedX : IconAlertTriangle
  return (
    <Alert color="red" icon={<Icon aria-hidden />} title={title} role="alert">
      <Stack gap="xs" align="flex-start">
        {help && <Text size="sm">{help}</Text>}
        {details.length > 0 && (
          <List size="sm">
            {details.map(({ field, message }) => (
              <List.Item key={field}>
                <Code>{field}</Code> {message}
              </List.Item>
            ))}
          </List>
        )}
        <Group gap="md">
          {onRetry && (
            <Button size="compact-sm" variant="light" color="red" onClick={onRetry}>
              {components.retry}
            </Button>
          )}
          {requestId && (
            <Text size="xs" c="dimmed" ff="monospace">
              {components.requestId(requestId)}
            </Text>
          )}
        </Group>
      </Stack>
    </Alert>
  )
}

/** The same in words. The service's own sentences say what to do, so they are shown as they are. */
export function describe(error: unknown): {
  title: string
  help: string | undefined
  details: readonly { field: string; message: string }[]
  requestId: string | undefined
} {
  if (error instanceof PenstockError) {
    const { message, details, requestId, retryAfterSeconds } = error
    const help = retryAfterSeconds === undefined ? undefined : components.retryAfter(retryAfterSeconds)
    return { title: message, help, details, requestId }
  }
  if (error instanceof NoAnswerError) {
    return { title: components.unreachable, help: components.unreachableHelp, details: [], requestId: undefined }
  }
  const help = error instanceof Error ? error.message : String(error)
  return { title: components.unknownFailure, help, details: [], requestId: undefined }
}
