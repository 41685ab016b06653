import { Alert, Stack, Text } from '@mantine/core'
import type { ConnectionDetails, Transfer } from '@penstock/wire'
import { IconHandStop } from '@tabler/icons-react'
import { Confirm } from '../../components/confirm.tsx'
import { DialogButton } from '../../components/form-dialog.tsx'
import { transfer as say } from '../../strings/transfer.ts'

/** Whether a transfer stopped before it replaced what is there with much less, and waits for a confirmation. */
export const needsConfirmation = ({ status, error }: Pick<Transfer, 'status' | 'error'>): boolean =>
  status === 'failed' && error?.code === 'confirmation_needed'

/** Says what the transfer would have done, and runs it again once the user confirms. */
export function ReplaceGuard({
  connection,
  error,
  reason,
  onTransfer,
}: {
  connection: Pick<ConnectionDetails, 'destConnectionConfig'>
  error: Transfer['error']
  /** Why it cannot run now. */
  reason: string | undefined
  onTransfer: () => Promise<unknown>
}) {
  const text = connection.destConnectionConfig.sendRows === 'Mirror' ? say.mirrorGuard : say.replaceGuard
  return (
    <Alert color="yellow" icon={<IconHandStop aria-hidden />} title={text.title}>
      <Stack gap="xs" align="flex-start">
        <Text size="sm">{error?.message}</Text>
        <Text size="sm">{text.act}</Text>
        <DialogButton
          size="compact-md"
          variant="filled"
          color="yellow.8"
          reason={reason}
          dialog={(close) => (
            <Confirm title={text.confirmTitle} action={text.button} onConfirm={onTransfer} onClose={close}>
              {text.help}
            </Confirm>
          )}
        >
          {text.button}
        </DialogButton>
      </Stack>
    </Alert>
  )
}
