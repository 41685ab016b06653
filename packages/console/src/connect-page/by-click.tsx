import { Alert, Button, Group, Loader, Stack, Text } from '@mantine/core'
import { PenstockError } from '@penstock/client'
import { IconAlertTriangle, IconExternalLink } from '@tabler/icons-react'
import { useEffect } from 'react'
import { Failure } from '../components/failure.tsx'
import { type ConnectorOfAccount, useConnect } from '../screens/connectors/use-connect.ts'
import { authorization as sayAuthorization } from '../strings/authorization.ts'
import { connectPage as say } from '../strings/connect-page.ts'
import { BrandButton } from './frame.tsx'

/** Access that is granted at the platform, in a window of its own: platforms let no site show them in a frame. */
export function ByClick({
  platform,
  authorized,
  onConnected,
  onOver,
  ...of
}: ConnectorOfAccount & {
  platform: string
  authorized: boolean
  onConnected: () => void
  onOver: (error: unknown) => void
}) {
  const { connect, busy, waiting, blockedUrl, failure } = useConnect(of, platform, onConnected)
  useEffect(() => {
    if (failure instanceof PenstockError && failure.status === 401) onOver(failure)
  }, [failure, onOver])
  return (
    <Stack gap="sm" align="flex-start">
      <Text size="sm">{authorized ? sayAuthorization.connectedHelp(platform) : say.byClick(platform)}</Text>
      {blockedUrl ? (
        <>
          <Alert color="yellow" icon={<IconAlertTriangle aria-hidden />} title={sayAuthorization.blocked} role="alert">
            <Text size="sm">{sayAuthorization.blockedHelp(platform)}</Text>
          </Alert>
          <Button
            component="a"
            href={blockedUrl}
            target="_blank"
            rel="noopener noreferrer"
            leftSection={<IconExternalLink size={16} aria-hidden />}
          >
            {sayAuthorization.open(platform)}
          </Button>
        </>
      ) : (
        <BrandButton loading={busy} leftSection={<IconExternalLink size={18} aria-hidden />} onClick={connect}>
          {authorized ? sayAuthorization.reconnect : sayAuthorization.connect(platform)}
        </BrandButton>
      )}
      {waiting && (
        <Group gap="sm" wrap="nowrap" align="flex-start" role="status">
          <Loader size="xs" mt={3} aria-hidden />
          <Text size="sm">
            <Text span inherit fw={600}>
              {sayAuthorization.waiting(platform)}
            </Text>
            . {sayAuthorization.waitingHelp(platform)}
          </Text>
        </Group>
      )}
      {failure !== undefined && <Failure error={failure} />}
    </Stack>
  )
}
