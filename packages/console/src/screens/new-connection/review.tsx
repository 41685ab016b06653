import { Alert, Anchor, Button, Card, Group, SimpleGrid, Stack, Text, Title, Tooltip } from '@mantine/core'
import type { ConnectionDetails, ConnectorDefinition } from '@penstock/wire'
import { lifecycle, mayTransfer } from '@penstock/wire'
import { IconCircleCheck, IconPencil, IconPlayerPlay } from '@tabler/icons-react'
import { useState } from 'react'
import { Link, useNavigate } from 'react-router'
import { useRead, useWrite } from '../../api/queries.ts'
import { Activate } from '../../components/activate.tsx'
import { Logo } from '../../components/connector-name.tsx'
import { Failure } from '../../components/failure.tsx'
import { Loaded } from '../../components/loaded.tsx'
import { DataTable } from '../../components/resource-table.tsx'
import { ConnectionBadge } from '../../components/status.tsx'
import { pathOf } from '../../shell/account.ts'
import { newConnection as say } from '../../strings/new-connection.ts'
import { TestButton } from '../connection/test-transfer.tsx'
import { useReasons } from '../connection/use-connection.ts'
import { parametersOf } from '../connectors/of-account.ts'
import { MappingSummary } from './mapping-summary.tsx'
import { missingOf } from './missing.ts'
import { MissingList } from './missing-list.tsx'
import { type ConnectionSide, idleNames, mappingField, sideOf, sides, textOf } from './settings.ts'
import { useWizard } from './wizard.ts'

/** The last step: all that was decided, what is still missing, and the activation. */
export function Review({ connection }: { connection: ConnectionDetails }) {
  const source = useRead('getConnectorDefinition', { id: connection.src.connectorId })
  const destination = useRead('getConnectorDefinition', { id: connection.dest.connectorId })
  return (
    <Loaded query={source} lines={6}>
      {(src) => (
        <Loaded query={destination} lines={6}>
          {(dest) => <Decided connection={connection} definitions={{ src: src.reply, dest: dest.reply }} />}
        </Loaded>
      )}
    </Loaded>
  )
}

type Definitions = Readonly<Record<ConnectionSide['key'], ConnectorDefinition>>

function Decided({ connection, definitions }: { connection: ConnectionDetails; definitions: Definitions }) {
  const { accountId, draft, keys, go } = useWizard()
  const parametersOfSide = (key: ConnectionSide['key']) =>
    parametersOf({
      accountId,
      connectorId: connection[key].connectorId,
      configurationId: connection[`${key}ConfigurationId`],
    })
  const configurations = {
    src: useRead('getConnectorConfiguration', parametersOfSide('src')).data?.reply,
    dest: useRead('getConnectorConfiguration', parametersOfSide('dest')).data?.reply,
  }
  const known = sides.every(({ key }) => configurations[key] !== undefined)
  const missing = missingOf(connection, {
    src: { definition: definitions.src, configuration: configurations.src },
    dest: { definition: definitions.dest, configuration: configurations.dest },
  })
  const unsaved = [
    ...([keys.name, keys.src, keys.dest, keys.srcConfiguration, keys.destConfiguration].some(
      (key) => key in draft.texts || key in draft.settings,
    )
      ? (['settings'] as const)
      : []),
    ...(keys.mapping in draft.texts ? (['mapping'] as const) : []),
  ]
  return (
    <Stack gap="lg">
      {unsaved.length > 0 && (
        <Alert color="yellow" icon={<IconPencil aria-hidden />} title={say.unsaved}>
          <Group gap="sm">
            {unsaved.map((step) => (
              <Button key={step} size="compact-sm" variant="default" onClick={() => go(step)}>
                {say.backTo(say.step[step])}
              </Button>
            ))}
          </Group>
        </Alert>
      )}
      {known && missing.length > 0 && (
        <MissingList missing={missing} connection={connection} title={say.missingTitle} />
      )}
      <SimpleGrid cols={{ base: 1, lg: 2 }} spacing="lg">
        {sides.map((side) => (
          <SideSummary key={side.key} side={side} connection={connection} definition={definitions[side.key]} />
        ))}
      </SimpleGrid>
      <MappingSummary
        text={textOf(connection.destConnectionConfig[mappingField])}
        records={sideOf(definitions.dest, 'Destination').records}
        onEdit={() => go('mapping')}
      />
      <Activation connection={connection} />
    </Stack>
  )
}

function SideSummary({
  side: { key, role },
  connection,
  definition,
}: {
  side: ConnectionSide
  connection: ConnectionDetails
  definition: ConnectorDefinition
}) {
  const { go } = useWizard()
  const { connectorLogo, connectorName } = connection[key]
  const settings = connection[`${key}ConnectionConfig`]
  const set = sideOf(definition, role).fields.filter(
    ({ name }) => name !== mappingField && textOf(settings[name]) !== '',
  )
  const title = key === 'src' ? say.source : say.destination
  return (
    <Card withBorder component="section" aria-label={`${title}: ${connectorName}`} padding="lg">
      <Group justify="space-between" wrap="nowrap" align="flex-start" mb="sm">
        <Group gap="sm" wrap="nowrap" miw={0}>
          <Logo src={connectorLogo} size={28} />
          <div>
            <Text size="xs" c="dimmed">
              {title}
            </Text>
            <Title order={2} size="h5" style={{ overflowWrap: 'anywhere' }}>
              {connectorName}
            </Title>
          </div>
        </Group>
        <Button
          size="compact-sm"
          variant="subtle"
          aria-label={say.editOf(title)}
          leftSection={<IconPencil size={14} aria-hidden />}
          onClick={() => go('settings')}
        >
          {say.edit}
        </Button>
      </Group>
      {set.length === 0 ? (
        <Text size="sm" c="dimmed">
          {say.allByDefault}
        </Text>
      ) : (
        <DataTable
          fz="sm"
          withRowBorders={false}
          verticalSpacing={4}
          horizontalSpacing={0}
          layout="fixed"
          rows={set}
          columns={[
            {
              names: true,
              w: '40%',
              cell: ({ label }) => (
                <Text span inherit fw={400} c="dimmed">
                  {label}
                </Text>
              ),
            },
            { wraps: true, cell: ({ name }) => textOf(settings[name]) },
          ]}
        />
      )}
    </Card>
  )
}

/** Activates the connection; the service says what is missing. Then it can be run at once. */
function Activation({ connection }: { connection: ConnectionDetails }) {
  const { accountId, etag, keys, drop, setAt, go } = useWizard()
  const navigate = useNavigate()
  const activate = useWrite('updateConnectionStatus')
  const start = useWrite('startTransfer')
  const [failure, setFailure] = useState<unknown>()
  const [asks, setAsks] = useState(false)
  const source = useRead('getConnectorDefinition', { id: connection.src.connectorId })
  const destination = useRead('getConnectorDefinition', { id: connection.dest.connectorId })
  const idle = idleNames(source.data?.reply, destination.data?.reply)
  const path = pathOf(accountId, `connections/${connection.id}`)
  const target = { accountId, id: connection.id }
  const attempt = async (work: () => Promise<unknown>) => {
    setFailure(undefined)
    try {
      await work()
    } catch (error) {
      setFailure(error)
    }
  }
  const doActivate = () =>
    attempt(async () => {
      await activate.mutateAsync({ ...target, body: { action: 'activate' }, ifMatch: etag })
    })
  const runNow = () =>
    attempt(async () => {
      await start.mutateAsync({ ...target, body: {} })
      // The connection is complete: its draft is dropped and no longer offered to continue.
      drop(keys.name, keys.src, keys.dest, keys.srcConfiguration, keys.destConfiguration, keys.mapping)
      setAt(undefined)
      void navigate(path)
    })
  const active = mayTransfer(connection.status)
  const reasons = useReasons(connection, undefined)
  const transition = lifecycle[connection.status].activate
  const mayNot = 'refused' in transition ? say.isDeleted : undefined
  const whyNoTransfer = idle.length > 0 ? say.movesNothingYet(idle.join(', ')) : undefined
  return (
    <Card withBorder padding="lg" component="section" aria-label={say.activation}>
      <Stack gap="md">
        <Group gap="sm">
          {active && <IconCircleCheck size={22} color="var(--mantine-color-teal-filled)" aria-hidden />}
          <Title order={2} size="h4">
            {active ? say.isActive : say.activation}
          </Title>
          <ConnectionBadge status={connection.status} />
        </Group>
        <Text size="sm" c="dimmed">
          {active ? (whyNoTransfer ?? say.transferHelp) : say.activationHelp}
        </Text>
        {failure !== undefined && <Refused failure={failure} connection={connection} />}
        {asks && (
          <Activate connection={connection} onActivate={() => void doActivate()} onClose={() => setAsks(false)} />
        )}
        <Group gap="sm">
          <Button variant="default" onClick={() => go('mapping')}>
            {say.back}
          </Button>
          {active ? (
            <Why label={whyNoTransfer}>
              <Button
                leftSection={<IconPlayerPlay size={16} aria-hidden />}
                loading={start.isPending}
                {...(whyNoTransfer ? { 'data-disabled': true, 'aria-disabled': true } : {})}
                onClick={() => !whyNoTransfer && void runNow()}
              >
                {say.runNow}
              </Button>
            </Why>
          ) : (
            <Why label={mayNot}>
              <Button
                loading={activate.isPending}
                {...(mayNot ? { 'data-disabled': true, 'aria-disabled': true } : {})}
                onClick={() => !mayNot && setAsks(true)}
              >
                {say.activate}
              </Button>
            </Why>
          )}
          {active && <TestButton connection={connection} reason={reasons.test} />}
          {active && (
            <Anchor component={Link} to={path} size="sm" ml="xs">
              {say.goToConnection}
            </Anchor>
          )}
        </Group>
      </Stack>
    </Card>
  )
}

/** A disabled control says why, also to users of the keyboard. */
function Why({ label, children }: { label: string | undefined; children: React.ReactElement }) {
  return label ? (
    <Tooltip label={label} events={{ hover: true, focus: true, touch: true }} multiline maw={320}>
      {children}
    </Tooltip>
  ) : (
    children
  )
}

function Refused({ failure, connection }: { failure: unknown; connection: ConnectionDetails }) {
  const isNotReady = failure instanceof Error && 'code' in failure && failure.code === 'connection_not_ready'
  return isNotReady ? (
    <MissingList error={failure} connection={connection} title={say.refusedAsMissing} />
  ) : (
    <Failure error={failure} />
  )
}
