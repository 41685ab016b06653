import { Alert, Button, Group, Stack } from '@mantine/core'
import { PenstockError } from '@penstock/client'
import { IconAlertTriangle } from '@tabler/icons-react'
import { Failure } from '../../../components/failure.tsx'
import { connectionSet as say } from '../../../strings/connection-set.ts'
import { newConnection as sayNew } from '../../../strings/new-connection.ts'
import { MissingList } from '../missing-list.tsx'
import type { Stopped } from './use-activate-set.ts'

/** Why a connection of the set was not activated, how many are, and the ways on. */
export function StoppedAt({
  stopped: { connection, error, isActive, done },
  busy,
  onAgain,
  onSkip,
}: {
  stopped: Stopped
  busy: boolean
  onAgain: () => void
  onSkip: () => void
}) {
  const name = connection?.name ?? say.unread
  const isNotReady = error instanceof PenstockError && error.code === 'connection_not_ready'
  return (
    <Alert
      variant="default"
      role="alert"
      icon={<IconAlertTriangle color="var(--mantine-color-orange-filled)" aria-hidden />}
      title={isActive ? say.notStarted(name) : say.stopped(name, done)}
    >
      <Stack gap="sm">
        {isNotReady && connection ? (
          <MissingList error={error} connection={connection} title={sayNew.refusedAsMissing} />
        ) : (
          <Failure error={error} />
        )}
        <Group gap="sm">
          <Button size="compact-sm" loading={busy} onClick={onAgain}>
            {say.again}
          </Button>
          <Button size="compact-sm" variant="default" disabled={busy} onClick={onSkip}>
            {say.skip(name)}
          </Button>
        </Group>
      </Stack>
    </Alert>
  )
}
