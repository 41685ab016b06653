import { Alert, Stack, Text } from '@mantine/core'
import type { Transfer } from '@penstock/wire'
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
  error,
  reason,
  onTransfer,
}: {
  error: Transfer['error']
  /** Why it cannot run now. */
  reason: string | undefined
  onTransfer: () => Promise<unknown>
}) {
  const [asked, setAsked] = useState(false)
  return (
    <Alert color="yellow" icon={<IconHandStop aria-hidden />} title={say.replaceGuard}>
      <Stack gap="xs" align="flex-start">
        <Text size="sm">{error?.message}</Text>
        <Text size="sm">{say.replaceGuardAct}</Text>
        <ReasonedButton size="compact-md" color="yellow.8" reason={reason} onClick={() => setAsked(true)}>
          {say.replaceGuardButton}
        </ReasonedButton>
      </Stack>
      {asked && (
        <Confirm
          title={say.replaceGuardTitle}
          action={say.replaceGuardButton}
          onConfirm={onTransfer}
          onClose={() => setAsked(false)}
        >
          {say.replaceGuardHelp}
        </Confirm>
      )}
    </Alert>
  )
}
