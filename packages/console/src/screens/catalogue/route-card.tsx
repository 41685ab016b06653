import { Alert, Box, Card, Group, Stack, Text } from '@mantine/core'
import { type ConnectorDefinition, fieldIsRequired } from '@penstock/wire'
import { IconAlertTriangle, IconArrowRight, IconCheck, IconKey } from '@tabler/icons-react'
import { useId } from 'react'
import { Link } from 'react-router'
import { useForbidden } from '../../api/me.ts'
import { useRead } from '../../api/queries.ts'
import { Logo, logoOfPlatform } from '../../components/connector-name.tsx'
import { Failure } from '../../components/failure.tsx'
import { ReasonedButton } from '../../components/reasoned.tsx'
import { pathOf } from '../../shell/account.ts'
import { route as say } from '../../strings/catalogue.ts'
import type { Added, End, Route } from './route.ts'
import classes from './route-card.module.css'
import { useStartRoute } from './use-start-route.ts'
import type { KnownConnector } from './vocabulary.ts'

/** The route of the sentence: its sides, what the sub-account has of them or lacks, and the button that starts it. */
export function RouteCard({ accountId, route, added }: { accountId: string; route: Route; added: Added }) {
  const { source, destinations, obstacles } = route
  const id = useId()
  const forbidden = useForbidden('createConnection')
  const { start, busy, failure, settings } = useStartRoute(accountId, route)
  const [, ...next] = destinations
  if (!source) return null
  if (obstacles.length > 0) {
    return (
      <Alert color="orange" icon={<IconAlertTriangle aria-hidden />} title={say.cannot}>
        {obstacles.map((obstacle) => (
          <Text key={obstacle} size="sm">
            {obstacle}.
          </Text>
        ))}
        <Text size="sm">{say.through}</Text>
      </Alert>
    )
  }
  return (
    <Card withBorder padding="lg" component="section" aria-label={say.title} className={classes.card}>
      <Stack gap="md">
        <Box className={classes.flow}>
          <Node accountId={accountId} end={source} added={added} />
          <Box className={classes.wire} aria-hidden />
          <Stack gap="xs">
            {destinations.map((end) => (
              <Node key={end.connector.connectorId} accountId={accountId} end={end} added={added} />
            ))}
            {destinations.length === 0 && (
              <Text size="sm" c="dimmed" className={classes.node}>
                {say.chooseDestination}
              </Text>
            )}
          </Stack>
          <Stack gap={4} align="stretch" className={classes.action}>
            <ReasonedButton
              reason={forbidden}
              loading={busy}
              leftSection={<IconArrowRight size={18} aria-hidden />}
              onClick={start}
            >
              {say.start}
            </ReasonedButton>
            {destinations.length > 1 && (
              <Text size="xs" c="dimmed" ta="center" id={id}>
                {say.connections(destinations.length)}
              </Text>
            )}
          </Stack>
        </Box>
        {failure !== undefined && <Failure error={failure} />}
        <Group gap="md" className={classes.needs} component="ul" m={0} p={0} pt="sm" style={{ listStyle: 'none' }}>
          <Facts connector={source.connector} side="source" picked={Object.values(settings)[0]} added={added} />
          {destinations.map(({ connector }) => (
            <Facts key={connector.connectorId} connector={connector} side="destination" added={added} />
          ))}
          {next.length > 0 && <Fact icon="next">{say.nextOnes(next.map(({ connector }) => connector.name))}</Fact>}
        </Group>
      </Stack>
    </Card>
  )
}

function Node({ accountId, end: { connector, part }, added }: { accountId: string; end: End; added: Added }) {
  const { connectorId, name, platformId } = connector
  const { data } = useRead('getConnectorDefinition', { id: connectorId })
  const asksNothing = data?.reply.secretFields.every((field) => field.readonly) === true
  const state = asksNothing
    ? say.ready
    : added.get(connectorId)
      ? say.connected
      : added.has(connectorId)
        ? say.notConfigured
        : say.notConnected
  return (
    <Group className={classes.node} wrap="nowrap" gap="sm">
      <Logo src={logoOfPlatform(platformId)} size={32} />
      <Box miw={0}>
        <Text
          component={Link}
          to={pathOf(accountId, `catalogue/${connectorId}`)}
          fw={600}
          size="sm"
          c="inherit"
          style={{ overflowWrap: 'anywhere' }}
        >
          {name}
        </Text>
        <Text size="xs" c="dimmed">
          {part ? state : `${say.proposed} · ${state}`}
        </Text>
      </Box>
    </Group>
  )
}

/** Facts of a side of the route, and its needs while it is not configured. */
function Facts({
  connector: { connectorId, platform },
  side,
  picked,
  added,
}: {
  connector: KnownConnector
  side: 'source' | 'destination'
  picked?: string | undefined
  added: Added
}) {
  const { data } = useRead('getConnectorDefinition', { id: connectorId })
  if (!data) return null
  const definition = data.reply
  const fields = definition[side]?.fields ?? []
  const has = (name: string, option?: string) =>
    fields.some((field) => field.name === name && (option === undefined || field.options?.includes(option)))
  const needs = added.get(connectorId) ? [] : neededOf(definition)
  return (
    <>
      {picked !== undefined && <Fact icon="has">{say.reads(picked)}</Fact>}
      {side === 'source' && has('syncMode', 'Incremental') && <Fact icon="has">{say.changes}</Fact>}
      {side === 'source' && definition.source?.changeLog && <Fact icon="has">{say.changeLog}</Fact>}
      {side === 'destination' && has('createTable') && <Fact icon="has">{say.creates}</Fact>}
      {side === 'destination' && has('sendRows', 'Mirror') && <Fact icon="has">{say.mirror}</Fact>}
      {needs.length > 0 && <Fact icon="needs">{say.needs(platform, needs)}</Fact>}
    </>
  )
}

const neededMax = 4

/** Needed to connect: a sign-in, or the fields that are always required. */
function neededOf({ authorization, secretFields }: ConnectorDefinition): string[] {
  if (authorization) return [say.signIn(authorization.platform)]
  const byName = Object.fromEntries(secretFields.map((field) => [field.name, field]))
  const defaults = Object.fromEntries(secretFields.map((field) => [field.name, field.default ?? '']))
  return secretFields
    .filter(({ name, default: preset }) => preset === undefined && fieldIsRequired(byName, name, defaults))
    .map(({ label }) => label)
    .slice(0, neededMax)
}

function Fact({ icon, children }: { icon: 'has' | 'needs' | 'next'; children: string }) {
  const props = { size: 16, 'aria-hidden': true, style: { flex: 'none' } } as const
  return (
    <Group component="li" gap={6} wrap="nowrap" align="center">
      {icon === 'has' && <IconCheck {...props} color="var(--mantine-color-teal-filled)" />}
      {icon === 'needs' && <IconKey {...props} />}
      {icon === 'next' && <IconArrowRight {...props} />}
      <Text size="sm" c="dimmed">
        {children}
      </Text>
    </Group>
  )
}
