import { Group, List, Paper, Stack, Text } from '@mantine/core'
import type { ConnectPage } from '@penstock/wire'
import type { ReactNode } from 'react'
import { Logo } from '../components/connector-name.tsx'
import { connectPage as say } from '../strings/connect-page.ts'
import { BrandButton } from './brand.tsx'

/** Purpose of the link, before anything begins; the console previews it. @param heading around the title */
export function Intro({
  page: { organizationName, accountName, connectors, connectionName, activates },
  heading,
  busy = false,
  onContinue = () => {},
}: {
  page: Pick<ConnectPage, 'organizationName' | 'accountName' | 'connectionName' | 'activates'> & {
    connectors: readonly Pick<ConnectPage['connectors'][number], 'connectorId' | 'logo' | 'name' | 'platform'>[]
  }
  heading: (title: string) => ReactNode
  busy?: boolean
  onContinue?: () => void
}) {
  const names = connectors.map(({ name }) => name)
  const platforms = [...new Set(connectors.map(({ platform }) => platform))]
  return (
    <Paper withBorder p="lg">
      <Stack>
        <Group gap="sm">
          {connectors.map(({ connectorId, logo }) => (
            <Logo key={connectorId} src={logo} size={36} />
          ))}
        </Group>
        {heading(say.title(names))}
        <Text>{say.asks(organizationName, accountName, names)}</Text>
        <Text fw={600} component="h2" size="md" m={0}>
          {say.what}
        </Text>
        <List size="sm" spacing="xs">
          <List.Item>{say.access(organizationName, platforms)}</List.Item>
          <List.Item>{say.secrets(organizationName)}</List.Item>
          {connectionName !== null && <List.Item>{say.connection(connectionName, activates)}</List.Item>}
          <List.Item>{say.takeBack}</List.Item>
        </List>
        <Text size="sm" c="dimmed">
          {say.careful} {say.time}
        </Text>
        <Group justify="flex-end">
          <BrandButton loading={busy} onClick={onContinue}>
            {say.continue}
          </BrandButton>
        </Group>
      </Stack>
    </Paper>
  )
}
