import './flow.css'
import { Anchor, Card, Group, Stack, Text, VisuallyHidden } from '@mantine/core'
import type { ConnectionDetails, Transfer } from '@penstock/wire'
import { useMemo } from 'react'
import { Link } from 'react-router'
import { useRead } from '../../api/queries.ts'
import { Logo } from '../../components/connector-name.tsx'
import { SettingValue } from '../../components/setting-value.tsx'
import { pipeOf, standingOf } from '../../components/standing.ts'
import { ConfigurationBadge } from '../../components/status.tsx'
import { isUpload } from '../../components/upload-name.tsx'
import { pathOf } from '../../shell/account.ts'
import { connection as say } from '../../strings/connection.ts'
import { standing as words } from '../../strings/standing.ts'
import { configureAt } from '../connectors/of-account.ts'
import { type NamedStanding, useStandings } from '../connectors/use-standing.ts'
import { FlowStatus } from './flow-status.tsx'

const shownSettings = 2

/**
 * A drawing of a connection: source, valve, destination. It moves only while rows do.
 * @param newest may be a test, which moves rows too
 * @param latest tells how the connection is doing
 */
export function Flow({
  connection,
  newest,
  latest,
}: {
  connection: ConnectionDetails
  newest: Transfer | undefined
  latest: Transfer | undefined
}) {
  const { src, dest, status } = connection
  const standing = standingOf(status, latest)
  const pipe = pipeOf(status, newest?.status === 'running' ? newest : latest)
  const fresh = useMemo(() => (latest ? [latest] : []), [latest])
  const standings = useStandings(connection.accountId, fresh)
  const [source, destination] = (['src', 'dest'] as const).map((side) => {
    const { connectorId, configured } = connection[side]
    const configurationId = connection[`${side}ConfigurationId`]
    return standings({ accountId: connection.accountId, connectorId, configured, configurationId })
  }) as [NamedStanding, NamedStanding]
  const isFailed = standing === 'failing' && pipe === 'closed'
  const caption = isFailed
    ? words.failed
    : standing === 'active' || standing === 'failing'
      ? words.pipe[pipe]
      : words.help[standing]
  const water = { 'data-apart': pipe === 'dashed' || undefined, 'data-flowing': pipe === 'flows' || undefined }
  const described = (side: typeof src, { standing }: NamedStanding) =>
    say.sideDescribed(side.connectorName, words.configuration[standing])
  return (
    <>
      <div className="flow" data-pipe={pipe}>
        <VisuallyHidden>
          {say.described(described(src, source), described(dest, destination), words.connection[standing], caption)}
        </VisuallyHidden>
        <Side connection={connection} side="src" {...source} />
        <div className="flow-run" data-water={pipe !== 'dashed' || undefined} {...water} />
        <div className="flow-status">
          <FlowStatus status={standing} pipe={pipe} />
        </div>
        <div className="flow-run" data-water={pipe === 'open' || pipe === 'flows' || undefined} {...water} />
        <Side connection={connection} side="dest" {...destination} />
      </div>
      <Text size="sm" c="dimmed" ta="center" mt={{ base: 'sm', md: 0 }} aria-hidden>
        {caption}
      </Text>
    </>
  )
}

function Side({
  connection,
  side,
  standing,
  why,
  name,
}: NamedStanding & { connection: ConnectionDetails; side: 'src' | 'dest' }) {
  const { connectorId, connectorLogo, connectorName } = connection[side]
  const settings = useSettingsInShort(connection, side)
  return (
    <Card withBorder padding="md" className="flow-side" style={{ zIndex: 1 }}>
      <Text size="xs" c="dimmed" mb={8}>
        {side === 'src' ? say.source : say.destination}
      </Text>
      <Group gap="sm" wrap="nowrap" align="center">
        <Logo src={connectorLogo} size={36} />
        <Stack gap={0} miw={0} mih={64}>
          <Text fw={600} lineClamp={2} style={{ overflowWrap: 'anywhere' }}>
            {name ?? connectorName}
          </Text>
          {name && (
            <Text size="sm" c="dimmed" truncate>
              {connectorName}
            </Text>
          )}
          {settings.map(({ field, value }) => (
            <Text key={field.name} size="sm" c="dimmed" truncate title={isUpload(connectorId, value) ? '' : value}>
              {field.label}:{' '}
              <SettingValue accountId={connection.accountId} connectorId={connectorId} field={field} value={value} />
            </Text>
          ))}
        </Stack>
      </Group>
      <Group gap={6} mt="sm" fz="sm" wrap="nowrap" mih={28}>
        <ConfigurationBadge standing={standing} why={why} />
        {(standing === 'missing' || standing === 'failed') && (
          <Anchor
            component={Link}
            fz="inherit"
            to={pathOf(connection.accountId, configureAt(connectorId, connection[`${side}ConfigurationId`]))}
            aria-label={say.fixConnector(connectorName)}
          >
            {say.configure}
          </Anchor>
        )}
      </Group>
    </Card>
  )
}

/** The first settings of a side: a file, a table. */
function useSettingsInShort(connection: ConnectionDetails, side: 'src' | 'dest') {
  const { data } = useRead('getConnectorDefinition', { id: connection[side].connectorId })
  const values = side === 'src' ? connection.srcConnectionConfig : connection.destConnectionConfig
  const fields = (side === 'src' ? data?.reply.source : data?.reply.destination)?.fields ?? []
  return fields
    .filter(({ name, type }) => type === 'Text' && name !== 'mapping' && typeof values[name] === 'string')
    .slice(0, shownSettings)
    .map((field) => ({ field, value: String(values[field.name]) }))
}
