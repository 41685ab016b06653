import { Alert, Button, Code, Group, Text } from '@mantine/core'
import type { Connection, Transfer } from '@penstock/wire'
import { IconAlertTriangle } from '@tabler/icons-react'
import type { ReactNode } from 'react'
import { Link, useLocation } from 'react-router'
import { adviceOf } from '../../components/advice.ts'
import { transfer as say } from '../../strings/transfer.ts'
import { CopyAgain } from '../connection/copy-again.tsx'
import { isActive } from '../connection/use-connection.ts'
import { Reconnect, refusedSide } from '../connectors/reconnect.tsx'
import { ConnectionCure } from '../failing/connection-cure.tsx'
import { nextSteps } from './next-steps.ts'

/** Why a transfer failed, or the temporary error that it retries after, in the service's own plain words, and what to do next. */
export function Failed({
  transfer,
  connection,
  title,
  children,
}: {
  transfer: Transfer
  connection: Connection
  title?: string
  children?: ReactNode
}) {
  const { error, status } = transfer
  const { pathname } = useLocation()
  // Links to the current page are left out.
  const steps = nextSteps(transfer, connection).filter(({ to }) => to !== pathname)
  if (!error) return null
  const refused = refusedSide(connection, transfer)
  // The field that ends a refusal is the advice; a transfer that retries needs none.
  const advice = refused || isActive(transfer) ? undefined : adviceOf(error.code)
  const words = isActive(transfer) ? say.retrying : status === 'failed' ? say.failed : say.endedWith
  return (
    <Alert
      color={status === 'failed' ? 'red' : 'yellow'}
      icon={<IconAlertTriangle aria-hidden />}
      title={title ?? words}
      role="alert"
    >
      <Text size="sm" style={{ overflowWrap: 'anywhere' }}>
        {error.message}
      </Text>
      {advice !== undefined && (
        <Text size="sm" mt={4}>
          {advice}
        </Text>
      )}
      <Group gap="sm" mt="xs">
        {refused && (
          <Reconnect connection={connection} side={refused} failedTime={transfer.finishedTime}>
            <ConnectionCure connection={connection} transfer={transfer} />
          </Reconnect>
        )}
        {steps.map(({ label, to }) => (
          <Button key={label} component={Link} to={to} size="compact-sm" variant="default">
            {label}
          </Button>
        ))}
        {error.code === 'changes_lost' && !isActive(transfer) && <CopyAgain connection={connection} />}
        {children}
        <Code>{say.code(error.code)}</Code>
      </Group>
    </Alert>
  )
}
