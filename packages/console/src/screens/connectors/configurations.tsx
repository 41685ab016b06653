import { Badge, Button, Group, Modal, Stack, Text } from '@mantine/core'
import { errors, limits, type SavedValues } from '@penstock/wire'
import { useForbidden, useForbiddenOf } from '../../api/me.ts'
import { useRead, useWrite } from '../../api/queries.ts'
import { ConfirmWrite } from '../../components/confirm.tsx'
import { useDialog } from '../../components/form-dialog.tsx'
import { Loaded } from '../../components/loaded.tsx'
import { ActionsMenu, AddButton } from '../../components/reasoned.tsx'
import { ConfigurationBadge } from '../../components/status.tsx'
import { Time } from '../../components/time.tsx'
import { components } from '../../strings/components.ts'
import { connectors as say } from '../../strings/connectors.ts'
import { forgetCheck } from './kept-checks.ts'
import { AddConfiguration, RenameConfiguration } from './name-configuration.tsx'
import { useStandings } from './use-standing.ts'

type Look = (at: { configure?: string; check?: string; configuration?: string }) => void

/** The configurations of a connector: what each is called, whether it is saved, and what can be done with it. */
export function Configurations({
  accountId,
  connectorId,
  onLook,
  onClose,
}: {
  accountId: string
  connectorId: string
  onLook: Look
  onClose: () => void
}) {
  const connector = useRead('getConnector', { accountId, id: connectorId })
  const size = limits.configurationsOfConnectorMax
  const query = useRead('listConnectorConfigurations', { accountId, query: { connectorId, size } })
  const forbidden = useForbidden('createConnectorConfiguration')
  const [dialog, open] = useDialog()
  const { name = '', integrated = false } = connector.data?.reply ?? {}
  return (
    <Modal opened onClose={onClose} size="lg" title={say.configurationsOf(name)}>
      <Stack>
        <Text size="sm" c="dimmed">
          {say.configurationsHelp}
        </Text>
        <Loaded query={query} lines={3}>
          {({ reply }) => (
            <Stack component="ul" gap="sm" m={0} p={0} style={{ listStyle: 'none' }} aria-label={say.configurations}>
              {reply.map((one) => (
                <li key={one.configurationId}>
                  <Line
                    configuration={one}
                    checkable={integrated}
                    onLook={onLook}
                    onRename={() => open((close) => <RenameConfiguration configuration={one} onClose={close} />)}
                    onDelete={() => open((close) => <DeleteConfiguration configuration={one} onClose={close} />)}
                  />
                </li>
              ))}
            </Stack>
          )}
        </Loaded>
        <Group justify="space-between">
          <AddButton
            variant="default"
            reason={forbidden}
            onClick={() =>
              open((close) => (
                <AddConfiguration
                  accountId={accountId}
                  connectorId={connectorId}
                  connectorName={name}
                  onMade={(configuration) => onLook({ configure: connectorId, configuration })}
                  onClose={close}
                />
              ))
            }
          >
            {say.addConfiguration}
          </AddButton>
          <Button onClick={onClose}>{components.close}</Button>
        </Group>
      </Stack>
      {dialog}
    </Modal>
  )
}

function Line({
  configuration: { accountId, connectorId, configurationId, name, first, configured, lastUpdated },
  checkable,
  onLook,
  onRename,
  onDelete,
}: {
  configuration: SavedValues
  /** Whether this deployment can check the connector. */
  checkable: boolean
  onLook: Look
  onRename: () => void
  onDelete: () => void
}) {
  const forbidden = useForbiddenOf()
  const at = first ? {} : { configuration: configurationId }
  const { standing, why } = useStandings(accountId)({ accountId, connectorId, configurationId, configured })
  const unsaved = configured ? undefined : errors.connector_not_configured.message
  return (
    <Group justify="space-between" wrap="nowrap">
      <Stack gap={2} miw={0}>
        <Group gap="xs">
          <Text fw={600} style={{ overflowWrap: 'anywhere' }}>
            {name}
          </Text>
          {first && (
            <Badge variant="light" fw={500}>
              {say.firstConfiguration}
            </Badge>
          )}
        </Group>
        <Group gap="xs" fz="sm" c="dimmed">
          <ConfigurationBadge standing={standing} why={why} />
          {lastUpdated > 0 && <Time seconds={lastUpdated} />}
        </Group>
      </Stack>
      <ActionsMenu
        label={say.actions(name)}
        width={260}
        groups={[
          [
            { label: say.configure, onClick: () => onLook({ configure: connectorId, ...at }) },
            {
              label: say.check,
              reason: forbidden('checkConnector') ?? (checkable ? unsaved : errors.check_not_supported.message),
              onClick: () => onLook({ check: connectorId, ...at }),
            },
            { label: say.rename, reason: forbidden('configureConnector') ?? unsaved, onClick: onRename },
          ],
          [
            {
              label: say.deleteConfiguration,
              reason:
                forbidden('deleteConnectorConfiguration') ??
                (first ? errors.configuration_is_first.message : undefined),
              destructive: true,
              onClick: onDelete,
            },
          ],
        ]}
      />
    </Group>
  )
}

function DeleteConfiguration({
  configuration: { accountId, connectorId, configurationId, name },
  onClose,
}: {
  configuration: SavedValues
  onClose: () => void
}) {
  const _remove = useWrite('deleteConnectorConfiguration')
  return (
    <ConfirmWrite
      title={say.deleteConfigurationTitle(name)}
      action={say.deleteConfiguration}
      operation="deleteConnectorConfiguration"
      parameters={{ accountId, id: connectorId, query: { configurationId } }}
      onDone={() => forgetCheck({ accountId, connectorId, configurationId })}
      done={say.configurationDeleted(name)}
      onClose={onClose}
    >
      {say.deleteConfigurationHelp}
    </ConfirmWrite>
  )
}
