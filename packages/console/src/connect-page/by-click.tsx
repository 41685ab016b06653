import { Stack, Text } from '@mantine/core'
import { PenstockError } from '@penstock/client'
import { IconExternalLink } from '@tabler/icons-react'
import { useEffect } from 'react'
import { Blocked, ConnectProgress, OpenPlatform } from '../screens/connectors/connect-progress.tsx'
import type { ConnectorOfAccount } from '../screens/connectors/of-account.ts'
import { useConnect } from '../screens/connectors/use-connect.ts'
import { authorization as sayAuthorization } from '../strings/authorization.ts'
import { connectPage as say } from '../strings/connect-page.ts'
import { BrandButton } from './brand.tsx'
import { report } from './embedder.ts'

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
  const connecting = useConnect(of, platform, onConnected)
  const { connect, busy, blockedUrl, ended, failure } = connecting
  const { connectorId } = of
  useEffect(() => {
    if (failure instanceof PenstockError && failure.status === 401) onOver(failure)
  }, [failure, onOver])
  useEffect(() => {
    if (ended === 'declined') report({ type: 'declined', connectorId })
    if (ended === 'failed') report({ type: 'failed', reason: 'authorization_failed', connectorId })
  }, [ended, connectorId])
  return (
    <Stack gap="sm" align="flex-start">
      <Text size="sm">{authorized ? sayAuthorization.connectedHelp(platform) : say.byClick(platform)}</Text>
      {blockedUrl ? (
        <>
          <Blocked platform={platform} />
          <OpenPlatform url={blockedUrl} platform={platform} />
        </>
      ) : (
        <BrandButton loading={busy} leftSection={<IconExternalLink size={18} aria-hidden />} onClick={connect}>
          {authorized ? sayAuthorization.reconnect : sayAuthorization.connect(platform)}
        </BrandButton>
      )}
      <ConnectProgress platform={platform} connecting={connecting} />
    </Stack>
  )
}
