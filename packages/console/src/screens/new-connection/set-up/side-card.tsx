import { Badge, Button, Card, Divider, Group, Stack, Text, Title } from '@mantine/core'
import { PenstockError } from '@penstock/client'
import type { ConnectorDefinition } from '@penstock/wire'
import { IconPlugConnected } from '@tabler/icons-react'
import { useState } from 'react'
import { useRead, useWrite } from '../../../api/queries.ts'
import { Logo, logoOfPlatform } from '../../../components/connector-name.tsx'
import { Failure } from '../../../components/failure.tsx'
import { FieldForm } from '../../../components/fields/field-form.tsx'
import type { FormField, FormValue, FormValues } from '../../../components/fields/form-field.ts'
import { useDiscovery } from '../../../components/fields/use-discovery.ts'
import { Lines } from '../../../components/loaded.tsx'
import { notifyOutcome } from '../../../components/notify.ts'
import { Time } from '../../../components/time.tsx'
import { authorization as sayAuthorization } from '../../../strings/authorization.ts'
import { newConnection as say } from '../../../strings/new-connection.ts'
import { CheckConnector } from '../../connectors/check-connector.tsx'
import { ConfigureConnector } from '../../connectors/configure-connector.tsx'
import { ConnectButton } from '../../connectors/connect-button.tsx'
import { parametersOf, useOtherConfiguration } from '../../connectors/of-account.ts'
import { PickConfiguration } from '../../connectors/pick-configuration.tsx'
import { isConnectable, useAuthorization } from '../../connectors/use-connect.ts'
import { type ConnectionSide, sideOf } from '../settings.ts'
import { useWizard } from '../wizard.ts'

/** One side of the connection: how it signs in, which all connections share, and the settings of this one. */
export function SideCard({
  side: { key, role },
  definition,
  fields,
  values,
  fieldErrors,
  configurationId,
  onConfiguration,
  onChange,
}: {
  side: ConnectionSide
  definition: ConnectorDefinition
  fields: readonly FormField[]
  values: FormValues
  fieldErrors: Readonly<Record<string, string>>
  /** The configuration that the side uses; undefined: the first one. */
  configurationId: string | undefined
  onConfiguration: (configurationId: string) => void
  onChange: (name: string, value: FormValue) => void
}) {
  const { accountId } = useWizard()
  const connector = useRead('getConnector', { accountId, id: definition.connectorId })
  const { platformId } = connector.data?.reply ?? {}
  const used = useOtherConfiguration({ accountId, connectorId: definition.connectorId, configurationId })
  const discovery = useDiscovery(accountId, definition, role, used)
  const title = key === 'src' ? say.source : say.destination
  return (
    <Card withBorder component="section" aria-label={`${title}: ${definition.name}`} padding="lg">
      <Stack gap="lg">
        <Group gap="sm" wrap="nowrap" align="flex-start">
          {platformId && <Logo src={logoOfPlatform(platformId)} size={32} />}
          <Stack gap={0} miw={0}>
            <Text size="xs" c="dimmed">
              {title}
            </Text>
            <Title order={2} size="h4" style={{ overflowWrap: 'anywhere' }}>
              {definition.name}
            </Title>
          </Stack>
        </Group>
        {sideOf(definition, role).integrated === false && (
          <Text size="sm" c="dimmed">
            {say.movesNothingYet(definition.name)}
          </Text>
        )}
        <PickConfiguration
          accountId={accountId}
          connectorId={definition.connectorId}
          connectorName={definition.name}
          configurationId={configurationId}
          onPick={onConfiguration}
        />
        <Configuration key={used} definition={definition} configurationId={used} />
        <Divider label={say.settingsOfThis} labelPosition="left" />
        {fields.length === 0 ? (
          <Text size="sm" c="dimmed">
            {say.noSettings}
          </Text>
        ) : (
          <FieldForm
            fields={fields}
            values={values}
            onChange={onChange}
            fieldErrors={fieldErrors}
            role={role}
            discovery={discovery}
          />
        )}
      </Stack>
    </Card>
  )
}

/** Whether the connector is configured in this sub-account; it can be, without leaving the page. */
function Configuration({
  definition,
  configurationId,
}: {
  definition: ConnectorDefinition
  configurationId: string | undefined
}) {
  const { connectorId, name, secretFields } = definition
  const { accountId } = useWizard()
  const of = { accountId, connectorId, configurationId }
  const configuration = useRead('getConnectorConfiguration', parametersOf(of))
  const authorization = useAuthorization(of, definition, {
    enabled: configuration.data !== undefined,
  })
  const add = useWrite('addConnectors')
  const [opened, setOpened] = useState<'configure' | 'by hand' | 'check'>()
  const { error, data } = configuration
  if (error instanceof PenstockError && error.code === 'connector_not_added') {
    return (
      <Group justify="space-between" gap="sm">
        <Text size="sm">{say.notAdded(name)}</Text>
        <Button
          size="xs"
          loading={add.isPending}
          onClick={() =>
            void notifyOutcome(add.mutateAsync({ accountId, body: { connectorIds: [connectorId] } }), say.added(name))
          }
        >
          {say.add(name)}
        </Button>
      </Group>
    )
  }
  if (error && !data) return <Failure error={error} onRetry={() => void configuration.refetch()} />
  if (!data) return <Lines lines={1} />
  const { configured, editable, lastUpdated } = data.reply
  const grant = authorization.data?.reply
  const platform = !configured && editable && isConnectable(grant) ? definition.authorization?.platform : undefined
  const asksNothing = secretFields.length === 0
  return (
    <>
      <Group justify="space-between" gap="sm">
        <Group gap="xs">
          <Badge variant="dot" color={configured ? 'teal' : 'orange'} fw={500}>
            {grant?.authorized ? say.connected : configured ? say.configured : say.notConfigured}
          </Badge>
          {configured && lastUpdated > 0 && (
            <Text size="sm" c="dimmed" component="div">
              {say.lastChanged} <Time seconds={lastUpdated} />
            </Text>
          )}
        </Group>
        {platform === undefined && (
          <Button
            size="xs"
            variant={configured ? 'default' : 'filled'}
            leftSection={<IconPlugConnected size={16} aria-hidden />}
            aria-label={configured ? say.reconfigure(name) : say.configure(name)}
            onClick={() => setOpened('configure')}
          >
            {configured ? say.change : say.configure(name)}
          </Button>
        )}
      </Group>
      {platform !== undefined && (
        <Stack gap="xs" align="flex-start">
          <Text size="sm">{sayAuthorization.connectHelp(platform)}</Text>
          <ConnectButton {...of} platform={platform} label={sayAuthorization.connect(platform)} />
          <Button variant="subtle" color="gray" size="xs" onClick={() => setOpened('by hand')}>
            {sayAuthorization.byHand}
          </Button>
        </Stack>
      )}
      {!configured && !asksNothing && platform === undefined && (
        <Text size="sm" c="dimmed" mt={-12}>
          {say.configureHelp}
        </Text>
      )}
      {(opened === 'configure' || opened === 'by hand') && (
        <ConfigureConnector
          {...of}
          byHand={opened === 'by hand'}
          onClose={() => setOpened(undefined)}
          onCheck={() => setOpened('check')}
        />
      )}
      {opened === 'check' && (
        <CheckConnector {...of} onClose={() => setOpened(undefined)} onConfigure={() => setOpened('configure')} />
      )}
    </>
  )
}
