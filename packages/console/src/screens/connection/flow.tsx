import './flow.css'
import { Anchor, Card, Group, Stack, Text, VisuallyHidden } from '@mantine/core'
import type { ConnectionDetails } from '@penstock/wire'
import { IconAlertCircle, IconCircleCheck } from '@tabler/icons-react'
import { Link } from 'react-router'
import { useRead } from '../../api/queries.ts'
import { Logo } from '../../components/connector-name.tsx'
import { pathOf } from '../../shell/account.ts'
import { connection as say } from '../../strings/connection.ts'
import { configureAt } from '../connectors/of-account.ts'
import { FlowStatus, flowStates } from './flow-status.tsx'

const shownSettings = 2

/** A drawing of a connection: source, status, destination. It is animated while a transfer runs. */
export function Flow({ connection, flowing }: { connection: ConnectionDetails; flowing: boolean }) {
  const { src, dest, status } = connection
  const state = flowStates[status]
  const described = (side: typeof src) => say.sideDescribed(side.connectorName, side.configured)
  const water = {
    'data-apart': state === 'apart' || undefined,
    'data-flowing': (flowing && state === 'open') || undefined,
  }
  return (
    <div className="flow">
      <VisuallyHidden>
        {say.described(described(src), described(dest), say.flowStatus[status])} {flowing && say.flows}
      </VisuallyHidden>
      <Side connection={connection} side="src" />
      <div className="flow-run" data-water={state !== 'apart' || undefined} {...water} />
      <div className="flow-status">
        <FlowStatus status={status} />
      </div>
      <div className="flow-run" data-water={state === 'open' || undefined} {...water} />
      <Side connection={connection} side="dest" />
    </div>
  )
}

function Side({ connection, side }: { connection: ConnectionDetails; side: 'src' | 'dest' }) {
  const { connectorId, connectorLogo, connectorName, configured } = connection[side]
  const settings = useSettingsInShort(connection, side)
  return (
    <Card withBorder padding="md" className="flow-side" style={{ zIndex: 1 }}>
      <Text size="xs" c="dimmed" mb={8}>
        {side === 'src' ? say.source : say.destination}
      </Text>
      <Group gap="sm" wrap="nowrap" align="center">
        <Logo src={connectorLogo} size={36} />
        <Stack gap={0} miw={0}>
          <Text fw={600} lineClamp={2} style={{ overflowWrap: 'anywhere' }}>
            {connectorName}
          </Text>
          {settings.map(({ name, text }) => (
            <Text key={name} size="sm" c="dimmed" truncate title={text}>
              {text}
            </Text>
          ))}
        </Stack>
      </Group>
      <Group gap={6} mt="sm" fz="sm" wrap="nowrap">
        {configured ? (
          <>
            <IconCircleCheck size={16} color="var(--mantine-color-teal-6)" aria-hidden />
            <Text span inherit>
              {say.configured}
            </Text>
          </>
        ) : (
          <>
            <IconAlertCircle size={16} color="var(--mantine-color-orange-6)" aria-hidden />
            <Text span inherit>
              {say.notConfigured}
            </Text>
            <Anchor
              component={Link}
              fz="inherit"
              to={pathOf(connection.accountId, configureAt(connectorId, connection[`${side}ConfigurationId`]))}
              aria-label={say.fixConnector(connectorName)}
            >
              {say.configure}
            </Anchor>
          </>
        )}
      </Group>
    </Card>
  )
}

/** The first settings of a side: a file, a table. */
function useSettingsInShort(connection: ConnectionDetails, side: 'src' | 'dest'): { name: string; text: string }[] {
  const { data } = useRead('getConnectorDefinition', { id: connection[side].connectorId })
  const values = side === 'src' ? connection.srcConnectionConfig : connection.destConnectionConfig
  const fields = (side === 'src' ? data?.reply.source : data?.reply.destination)?.fields ?? []
  return fields
    .filter(({ name, type }) => type === 'Text' && name !== 'mapping' && typeof values[name] === 'string')
    .slice(0, shownSettings)
    .map(({ name, label }) => ({ name, text: `${label}: ${values[name]}` }))
}
