import { Button, Group, Stack, Text } from '@mantine/core'
import { PenstockError } from '@penstock/client'
import type { ConnectorDefinition } from '@penstock/wire'
import { IconPlugConnected } from '@tabler/icons-react'
import { useState } from 'react'
import { useRead, useWrite } from '../../../api/queries.ts'
import { Failure } from '../../../components/failure.tsx'
import { Lines } from '../../../components/loaded.tsx'
import { notifyOutcome } from '../../../components/notify.ts'
import { Time } from '../../../components/time.tsx'
import { authorization as sayAuthorization } from '../../../strings/authorization.ts'
import { newConnection as say } from '../../../strings/new-connection.ts'
import { CheckConnector } from '../../connectors/check-connector.tsx'
import { ConfigureConnector } from '../../connectors/configure-connector.tsx'
import { ConnectButton } from '../../connectors/connect-button.tsx'
import { parametersOf } from '../../connectors/of-account.ts'
import { isConnectable, useAuthorization } from '../../connectors/use-connect.ts'
import { useWizard } from '../wizard.ts'

/** Whether the connector is configured in this sub-account; it can be, without leaving the page. */
export function Configuration({
  definition,
  configurationId,
  isNew,
}: {
  definition: ConnectorDefinition
  configurationId: string | undefined
  /** It was just added: its form opens. */
  isNew: boolean
}) {
  const { connectorId, name, secretFields } = definition
  const { accountId } = useWizard()
  const of = { accountId, connectorId, configurationId }
  const configuration = useRead('getConnectorConfiguration', parametersOf(of))
  const authorization = useAuthorization(of, definition, {
    enabled: configuration.data !== undefined,
  })
  const add = useWrite('addConnectors')
  const [opened, setOpened] = useState<'configure' | 'by hand' | 'check' | undefined>(isNew ? 'configure' : undefined)
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
        {configured && lastUpdated > 0 && (
          <Text size="sm" c="dimmed" component="div">
            {say.lastChanged} <Time seconds={lastUpdated} />
          </Text>
        )}
        {platform === undefined && !(asksNothing && configured) && (
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
