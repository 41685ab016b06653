import { Alert, Code, Text } from '@mantine/core'
import type { Transfer } from '@penstock/wire'
import { IconAlertTriangle } from '@tabler/icons-react'
import type { ReactNode } from 'react'
import { run as say } from '../../strings/run.ts'
import { isUnderWay } from '../connection/use-connection.ts'

/** Why a run failed, or what it meets at the moment, in the service's own plain words. */
export function Failed({ transfer, title, children }: { transfer: Transfer; title?: string; children?: ReactNode }) {
  const { error, status } = transfer
  if (!error) return null
  const words = isUnderWay(transfer) ? say.trouble : status === 'failed' ? say.failed : say.endedWith
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
      <Code mt="xs" display="inline-block">
        {say.code(error.code)}
      </Code>
      {children}
    </Alert>
  )
}
