import { Alert, Button, Card, Group, SimpleGrid, Stack, Text, Title } from '@mantine/core'
import type { ConnectionDetails, ConnectorDefinition } from '@penstock/wire'
import { IconPencil } from '@tabler/icons-react'
import { useRead } from '../../../api/queries.ts'
import { Logo } from '../../../components/connector-name.tsx'
import { DataTable } from '../../../components/resource-table.tsx'
import { SettingValue } from '../../../components/setting-value.tsx'
import { newConnection as say } from '../../../strings/new-connection.ts'
import { parametersOf } from '../../connectors/of-account.ts'
import { useStandings } from '../../connectors/use-standing.ts'
import { BothDefinitions, type Definitions } from '../both-definitions.tsx'
import { MissingList } from '../missing-list.tsx'
import { type ConnectionSide, mappingField, sideOf, sides, textOf } from '../settings.ts'
import { useWizard } from '../wizard.ts'
import { Activation } from './activation.tsx'
import { MappingSummary } from './mapping-summary.tsx'
import { missingOf } from './missing.ts'
import { WhenItRuns } from './when-it-runs.tsx'

/** The last step: all that was decided, what is still missing, and the activation. */
export function Review({ connection }: { connection: ConnectionDetails }) {
  return (
    <BothDefinitions src={connection.src.connectorId} dest={connection.dest.connectorId}>
      {(definitions) => <Decided connection={connection} definitions={definitions} />}
    </BothDefinitions>
  )
}

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
    ...([keys.mapping, keys.filter, keys.types].some((key) => key in draft.texts) ? (['mapping'] as const) : []),
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
      <WhenItRuns connection={connection} />
      <Activation connection={connection} definitions={definitions} />
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
  const { connectorId, connectorLogo, connectorName } = connection[key]
  const configurationId = connection[`${key}ConfigurationId`]
  const named = useStandings(connection.accountId)({ accountId: connection.accountId, connectorId, configurationId })
  const name = named.name ?? connectorName
  const settings = connection[`${key}ConnectionConfig`]
  const set = sideOf(definition, role).fields.filter(
    ({ name }) => name !== mappingField && textOf(settings[name]) !== '',
  )
  const title = key === 'src' ? say.source : say.destination
  return (
    <Card withBorder component="section" aria-label={`${title}: ${name}`} padding="lg">
      <Group justify="space-between" wrap="nowrap" align="flex-start" mb="sm">
        <Group gap="sm" wrap="nowrap" miw={0}>
          <Logo src={connectorLogo} size={28} />
          <div>
            <Text size="xs" c="dimmed">
              {title}
            </Text>
            <Title order={2} size="h5" style={{ overflowWrap: 'anywhere' }}>
              {name}
            </Title>
            {name !== connectorName && (
              <Text size="sm" c="dimmed">
                {connectorName}
              </Text>
            )}
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
            {
              wraps: true,
              cell: (field) => (
                <SettingValue
                  accountId={connection.accountId}
                  connectorId={connectorId}
                  field={field}
                  value={settings[field.name]}
                />
              ),
            },
          ]}
        />
      )}
    </Card>
  )
}
