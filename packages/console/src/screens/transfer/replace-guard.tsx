import { Alert, Stack, Text } from '@mantine/core'
import type { ConnectionDetails, Transfer } from '@penstock/wire'
import { IconHandStop } from '@tabler/icons-react'
import { useState } from 'react'
import { Confirm } from '../../components/confirm.tsx'
import { ReasonedButton } from '../../components/reasoned.tsx'
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
  const [asked, setAsked] = useState(false)
  const text = connection.destConnectionConfig.sendRows === 'Mirror' ? say.mirrorGuard : say.replaceGuard
  return (
    <Alert color="yellow" icon={<IconHandStop aria-hidden />} title={text.title}>
      <Stack gap="xs" align="flex-start">
        <Text size="sm">{error?.message}</Text>
        <Text size="sm">{text.act}</Text>
        <ReasonedButton size="compact-md" color="yellow.8" reason={reason} onClick={() => setAsked(true)}>
          {text.button}
        </ReasonedButton>
      </Stack>
      {asked && (
        <Confirm title={text.confirmTitle} action={text.button} onConfirm={onTransfer} onClose={() => setAsked(false)}>
          {text.help}
        </Confirm>
      )}
    </Alert>
  )
}
