import { Group, Paper, Stack, Text, ThemeIcon } from '@mantine/core'
import type { AuthorizationDefinition, ConnectorAuthorization } from '@penstock/wire'
import { IconCircleCheck, IconInfoCircle } from '@tabler/icons-react'
import { Time } from '../../components/time.tsx'
import { authorization as say } from '../../strings/authorization.ts'
import { ConnectButton } from './connect-button.tsx'
import type { ConnectorOfAccount } from './of-account.ts'

/** Above the form of a connector that can be connected with a click: the button, or that it is connected. */
export function Authorize({
  definition: { platform },
  authorization: { available, authorized },
  lastUpdated,
  onConnected,
  ...of
}: ConnectorOfAccount & {
  definition: AuthorizationDefinition
  authorization: ConnectorAuthorization
  /** When the configuration was saved, in seconds since 1970. */
  lastUpdated: number
  onConnected: () => void
}) {
  if (!available) {
    return (
      <Group gap="xs" wrap="nowrap" align="flex-start">
        <IconInfoCircle size={18} style={{ flex: 'none', marginTop: 1 }} aria-hidden />
        <Text size="sm">{authorized ? say.appRemoved(platform) : say.notAvailable(platform)}</Text>
      </Group>
    )
  }
  return (
    <Paper withBorder p="md" component="section" aria-label={say.title(platform)}>
      <Stack gap="sm">
        {authorized ? (
          <Group gap="sm" wrap="nowrap" align="flex-start">
            <ThemeIcon variant="light" color="teal" size="lg" radius="xl" aria-hidden>
              <IconCircleCheck size={22} />
            </ThemeIcon>
            <div>
              <Text fw={600}>{say.connected}</Text>
              <Text size="sm" c="dimmed" component="div">
                {say.connectedHelp(platform)} {say.lastChanged} <Time seconds={lastUpdated} />
              </Text>
            </div>
          </Group>
        ) : (
          <Text size="sm">{say.connectHelp(platform)}</Text>
        )}
        <ConnectButton
          {...of}
          platform={platform}
          label={authorized ? say.reconnect : say.connect(platform)}
          variant={authorized ? 'default' : 'filled'}
          onConnected={onConnected}
        />
      </Stack>
    </Paper>
  )
}
