import { Alert, Button, Group, List, Stack, Text } from '@mantine/core'
import { NoAnswerError, PenstockError } from '@penstock/client'
import { type Scope, scopeNames } from '@penstock/wire'
import { IconAlertTriangle, IconLock, IconPlugConnectedX } from '@tabler/icons-react'
import { lacks, useMe } from '../api/me.ts'
import { access } from '../strings/access.ts'
import { components } from '../strings/components.ts'
import { describe } from './describe.ts'
import { problemsOf } from './problems.ts'

/** Says what went wrong, what to do, and by which request the operator finds it in the log. */
export function Failure({ error, onRetry }: { error: unknown; onRetry?: (() => void) | undefined }) {
  if (error instanceof PenstockError && error.code === 'forbidden') return <Forbidden error={error} />
  const { title, help, problems, requestId } = describe(error)
  const Icon = error instanceof NoAnswerError ? IconPlugConnectedX : IconAlertTriangle
  return (
    <Alert color="red" icon={<Icon aria-hidden />} title={title} role="alert">
      <Stack gap="xs" align="flex-start">
        {help && <Text size="sm">{help}</Text>}
        {problems.length > 0 && (
          <List size="sm">
            {problems.map((problem) => (
              <List.Item key={problem}>{problem}</List.Item>
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

/** That someone may not see or do something is no failure of the page: it says what is missing. */
function Forbidden({ error }: { error: PenstockError }) {
  const me = useMe()
  const scope = missingScope(error)
  if (scope) return <NotAllowed reason={lacks(me, scope)} />
  return <NotAllowed reason={access.forbidden} help={problemsOf(error.details).join(' ')} />
}

/** That someone may not see or do something. @param reason a sentence */
export function NotAllowed({ reason, help = access.askOwner }: { reason: string; help?: string }) {
  return (
    <Alert color="gray" variant="default" icon={<IconLock aria-hidden />} title={reason} role="status">
      {help}
    </Alert>
  )
}

/** The scope that the service says is missing. */
const missingScope = ({ details }: PenstockError): Scope | undefined =>
  scopeNames.find((scope) => details.some(({ field, message }) => field === 'scope' && message.startsWith(`${scope} `)))
