import { Button, Group, Loader, Stack } from '@mantine/core'
import { IconExternalLink } from '@tabler/icons-react'
import { useEffect } from 'react'
import { useForbidden } from '../../api/me.ts'
import { notifyFailure, notifyProblem } from '../../components/notify.ts'
import { ReasonedButton } from '../../components/reasoned.tsx'
import { authorization as say } from '../../strings/authorization.ts'
import { Blocked, ConnectProgress, OpenPlatform } from './connect-progress.tsx'
import type { ConnectorOfAccount } from './of-account.ts'
import { useConnect } from './use-connect.ts'

type Props = ConnectorOfAccount & {
  /** The name of the platform. */
  platform: string
  label: string
  onConnected?: () => void
}

/** Connects a connector with a click, and says what happens meanwhile. */
export function ConnectButton({
  platform,
  label,
  variant = 'filled',
  onConnected,
  ...of
}: Props & { variant?: 'filled' | 'default' }) {
  const connecting = useConnect(of, platform, onConnected)
  const { busy, waiting, blockedUrl, connect } = connecting
  const forbidden = useForbidden('authorizeConnector')
  return (
    <Stack gap="sm" align="stretch">
      {blockedUrl && <Blocked platform={platform} />}
      <Group gap="sm">
        {blockedUrl ? (
          <OpenPlatform url={blockedUrl} platform={platform} />
        ) : (
          <ReasonedButton
            variant={waiting ? 'default' : variant}
            loading={busy}
            leftSection={<IconExternalLink size={18} aria-hidden />}
            reason={forbidden}
            onClick={connect}
          >
            {label}
          </ReasonedButton>
        )}
      </Group>
      <ConnectProgress platform={platform} connecting={connecting} />
    </Stack>
  )
}

/** The same in a row of a list, which has only the button. */
export function SmallConnectButton({
  platform,
  label,
  fullLabel,
  variant = 'filled',
  ...of
}: Props & {
  /** The label with what it is about, for screen readers. */
  fullLabel: string
  variant?: 'filled' | 'light'
}) {
  const { busy, waiting, blockedUrl, ended, failure, connect } = useConnect(of, platform, of.onConnected)
  useEffect(() => {
    if (failure !== undefined) notifyFailure(failure)
    else if (ended) notifyProblem(ended === 'declined' ? say.declined : say.failed(platform), say.tryAgain(platform))
  }, [failure, ended, platform])
  if (blockedUrl) return <OpenPlatform url={blockedUrl} platform={platform} size="compact-sm" />
  return (
    <Button
      size="compact-sm"
      variant={waiting ? 'default' : variant}
      loading={busy}
      leftSection={waiting && <Loader size={12} aria-hidden />}
      aria-label={waiting ? `${say.waiting(platform)}. ${fullLabel}` : fullLabel}
      onClick={connect}
      style={{ flex: 'none', maxWidth: '100%' }}
    >
      {waiting ? say.waiting(platform) : label}
    </Button>
  )
}
