import { Alert, Button, Group, Loader, Text } from '@mantine/core'
import { IconAlertTriangle, IconExternalLink, IconInfoCircle } from '@tabler/icons-react'
import { Failure } from '../../components/failure.tsx'
import { authorization as say } from '../../strings/authorization.ts'
import type { Connecting } from './use-connect.ts'

/** Below the button that connects a connector with a click: what happens at the platform meanwhile, and how it ended. */
export function ConnectProgress({
  platform,
  connecting: { waiting, ended, failure },
}: {
  platform: string
  connecting: Connecting
}) {
  return (
    <>
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
      {ended === 'declined' && (
        <Alert color="yellow" icon={<IconInfoCircle aria-hidden />} title={say.declined} role="alert">
          <Text size="sm">{say.declinedHelp(platform)}</Text>
        </Alert>
      )}
      {ended === 'failed' && (
        <Alert color="red" icon={<IconAlertTriangle aria-hidden />} title={say.failed(platform)} role="alert">
          <Text size="sm">{say.failedHelp(platform)}</Text>
        </Alert>
      )}
      {failure !== undefined && <Failure error={failure} />}
    </>
  )
}

/** That the browser blocked the tab, above the link that leads to the platform instead. */
export function Blocked({ platform }: { platform: string }) {
  return (
    <Alert color="yellow" icon={<IconAlertTriangle aria-hidden />} title={say.blocked} role="alert">
      <Text size="sm">{say.blockedHelp(platform)}</Text>
    </Alert>
  )
}

/** Where the browser blocked the tab: a link, which no browser blocks. */
export function OpenPlatform({
  url,
  platform,
  size = 'sm',
}: {
  url: string
  platform: string
  size?: 'sm' | 'compact-sm'
}) {
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
