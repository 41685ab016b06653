import { Alert, Stack, Text } from '@mantine/core'
import type { Transfer } from '@penstock/wire'
import { IconHandStop } from '@tabler/icons-react'
import { useState } from 'react'
import { Confirm } from '../../parts/confirm.tsx'
import { ReasonedButton } from '../../parts/reasoned.tsx'
import { run as say } from '../../strings/run.ts'

/** Whether a run stopped before it replaced what is there by much less, for somebody to say that this is meant. */
export const needsWord = ({ status, error }: Pick<Transfer, 'status' | 'error'>): boolean =>
  status === 'failed' && error?.code === 'confirmation_needed'

/** Says what the run would have done, and runs it again once somebody stands by it. */
export function Brake({
  error,
  reason,
  onRun,
}: {
  error: Transfer['error']
  /** Why it cannot run now. */
  reason: string | undefined
  onRun: () => Promise<unknown>
}) {
  const [asked, setAsked] = useState(false)
  return (
    <Alert color="yellow" icon={<IconHandStop aria-hidden />} title={say.brake}>
      <Stack gap="xs" align="flex-start">
        <Text size="sm">{error?.message}</Text>
        <Text size="sm">{say.brakeAct}</Text>
        <ReasonedButton size="compact-md" color="yellow.8" reason={reason} onClick={() => setAsked(true)}>
          {say.brakeButton}
        </ReasonedButton>
      </Stack>
      {asked && (
        <Confirm title={say.brakeTitle} action={say.brakeButton} onConfirm={onRun} onClose={() => setAsked(false)}>
          {say.brakeHelp}
        </Confirm>
      )}
    </Alert>
  )
}
