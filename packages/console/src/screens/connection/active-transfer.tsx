import { Anchor, Card, Group, Progress, Stack, Text } from '@mantine/core'
import type { Transfer } from '@penstock/wire'
import { Link } from 'react-router'
import { useForbidden } from '../../api/me.ts'
import { ConfirmWrite } from '../../components/confirm.tsx'
import { DialogButton } from '../../components/form-dialog.tsx'
import { count, percent } from '../../components/numbers.ts'
import { TransferTag } from '../../components/status.tsx'
import { connection as say } from '../../strings/connection.ts'
import { runConditions } from '../../strings/run-conditions.ts'
import { pathOfTransfer } from '../transfer/paths.ts'

/** The transfer that is active, as it goes. */
export function Active({ transfer }: { transfer: Transfer }) {
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
            <DialogButton
              size="compact-sm"
              variant="light"
              color="red"
              reason={forbidden}
              dialog={(close) => <CancelTransfer transfer={transfer} onClose={close} />}
            >
              {say.cancelTransfer}
            </DialogButton>
          </Group>
        </Group>
        <TransferProgress transfer={transfer} />
      </Stack>
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
export function CancelTransfer({
  transfer: { accountId, connectionId, id },
  onClose,
}: {
  transfer: Transfer
  onClose: () => void
}) {
  return (
    <ConfirmWrite
      title={say.cancelTitle}
      action={say.cancelTransfer}
      operation="cancelTransfer"
      parameters={{ accountId, id: connectionId, transferId: id }}
      done={say.cancelled}
      onClose={onClose}
    >
      {say.cancelHelp}
    </ConfirmWrite>
  )
}
