import { Anchor, Card, Group, Progress, Stack, Text } from '@mantine/core'
import type { Transfer } from '@penstock/wire'
import { useState } from 'react'
import { Link } from 'react-router'
import { useForbidden } from '../../api/me.ts'
import { useWrite } from '../../api/queries.ts'
import { Confirm } from '../../components/confirm.tsx'
import { notifyDone } from '../../components/notify.ts'
import { count, percent } from '../../components/numbers.ts'
import { ReasonedButton } from '../../components/reasoned.tsx'
import { TransferTag } from '../../components/status.tsx'
import { connection as say } from '../../strings/connection.ts'
import { runConditions } from '../../strings/run-conditions.ts'
import { pathOfTransfer } from '../transfer/paths.ts'

/** The transfer that is active, as it goes. */
export function Active({ transfer }: { transfer: Transfer }) {
  const [cancelling, setCancelling] = useState(false)
  const forbidden = useForbidden('cancelTransfer')
  const { read, accepted, rejected } = transfer.records
  return (
    <Card withBorder padding="md">
      <Stack gap="xs">
        <Group justify="space-between" gap="sm">
          <Group gap="sm">
            <Text fw={600} role="status">
              {transfer.waitsForGroup !== null
                ? runConditions.waitsFor(transfer.waitsForGroup)
                : transfer.status === 'queued'
                  ? say.waits
                  : say.running}
            </Text>
            <TransferTag transfer={transfer} />
            <Text size="sm" c="dimmed" className="figures">
              {say.soFar(count(read), count(accepted), count(rejected))}
            </Text>
          </Group>
          <Group gap="md">
            <Anchor component={Link} to={pathOfTransfer(transfer)} size="sm">
              {say.open}
            </Anchor>
            <ReasonedButton
              size="compact-sm"
              variant="light"
              color="red"
              reason={forbidden}
              onClick={() => setCancelling(true)}
            >
              {say.cancelTransfer}
            </ReasonedButton>
          </Group>
        </Group>
        <TransferProgress transfer={transfer} />
      </Stack>
      {cancelling && <CancelTransfer transfer={transfer} onClose={() => setCancelling(false)} />}
    </Card>
  )
}

/** Processed share of the source; an animated bar if it is unknown. */
export function TransferProgress({ transfer, size = 'md' }: { transfer: Transfer; size?: string }) {
  const { progress, status } = transfer
  const known = progress ?? (status === 'queued' ? 0 : undefined)
  return (
    <Progress.Root size={size}>
      <Progress.Section
        value={known === undefined ? 100 : known * 100}
        animated={status === 'running'}
        striped={known === undefined}
        aria-label={say.progress}
        aria-valuetext={known === undefined ? say.running : percent(known)}
      />
    </Progress.Root>
  )
}

/** Asks, and cancels. */
export function CancelTransfer({ transfer, onClose }: { transfer: Transfer; onClose: () => void }) {
  const cancel = useWrite('cancelTransfer')
  return (
    <Confirm
      title={say.cancelTitle}
      action={say.cancelTransfer}
      onClose={onClose}
      onConfirm={async () => {
        const { accountId, connectionId, id } = transfer
        await cancel.mutateAsync({ accountId, id: connectionId, transferId: id })
        notifyDone(say.cancelled)
      }}
    >
      {say.cancelHelp}
    </Confirm>
  )
}
