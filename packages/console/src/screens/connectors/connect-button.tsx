import { Alert, Button, Group, Loader, Stack, Text } from '@mantine/core'
import { IconAlertTriangle, IconExternalLink } from '@tabler/icons-react'
import { useEffect } from 'react'
import { useForbidden } from '../../api/me.ts'
import { Failure } from '../../components/failure.tsx'
import { notifyFailure } from '../../components/notify.tsx'
import { ReasonedButton } from '../../components/reasoned.tsx'
import { authorization as say } from '../../strings/authorization.ts'
import { type Connecting, type ConnectorOfAccount, useConnect } from './use-connect.ts'

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
  const { busy, waiting, blockedUrl, failure, connect } = connecting
  const forbidden = useForbidden('authorizeConnector')
  return (
    <Stack gap="sm" align="stretch">
      {blockedUrl ? (
        <Alert color="yellow" icon={<IconAlertTriangle aria-hidden />} title={say.blocked} role="alert">
          <Text size="sm">{say.blockedHelp(platform)}</Text>
        </Alert>
      ) : null}
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
      {waiting && (
        <Group gap="sm" wrap="nowrap" align="flex-start" role="status">
          <Loader size="xs" mt={3} aria-hidden />
          <Text size="sm">
            <Text span inherit fw={600}>
              {say.waiting(platform)}
            </Text>
            . {say.waitingHelp(platform)}
          </Text>
        </Group>
      )}
      {failure !== undefined && <Failure error={failure} />}
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
  const { busy, waiting, blockedUrl, failure, connect } = useConnect(of, platform, of.onConnected)
  useShown(failure)
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

function useShown(failure: Connecting['failure']): void {
  useEffect(() => {
    if (failure !== undefined) notifyFailure(failure)
  }, [failure])
}

/** Where the browser blocked the tab: a link, which no browser blocks. */
function OpenPlatform({ url, platform, size = 'sm' }: { url: string; platform: string; size?: 'sm' | 'compact-sm' }) {
  return (
    <Button
      component="a"
      href={url}
      target="_blank"
      rel="noopener noreferrer"
      size={size}
      leftSection={<IconExternalLink size={16} aria-hidden />}
    >
      {say.open(platform)}
    </Button>
  )
}
