import { Button, Group, Stack, Text } from '@mantine/core'
import { useState } from 'react'
import { connectPage as say } from '../strings/connect-page.ts'
import { BrandButton } from './brand.tsx'

/** Below the connectors: the way out. */
export function Ways({
  ready,
  checked,
  onFinish,
}: {
  /** Every connector is configured. */
  ready: boolean
  /** No check failed. */
  checked: boolean
  onFinish: (outcome: 'completed' | 'cancelled') => Promise<void>
}) {
  const [busy, setBusy] = useState<string>()
  const end = (outcome: 'completed' | 'cancelled') => {
    setBusy(outcome)
    void onFinish(outcome).finally(() => setBusy(undefined))
  }
  return (
    <Stack gap="xs">
      <Group justify="space-between">
        <Button variant="default" loading={busy === 'cancelled'} onClick={() => end('cancelled')}>
          {say.decline}
        </Button>
        <BrandButton disabled={!ready} loading={busy === 'completed'} onClick={() => end('completed')}>
          {checked ? say.finish : say.finishUnchecked}
        </BrandButton>
      </Group>
      {!ready && (
        <Text size="sm" c="dimmed" ta="right">
          {say.finishHelp}
        </Text>
      )}
    </Stack>
  )
}
