import { Alert, Anchor, Box, Button, Drawer, Group, Spoiler, Stack, Text } from '@mantine/core'
import { PenstockError } from '@penstock/client'
import { IconBook, IconPlugConnectedX, IconTool } from '@tabler/icons-react'
import { useState } from 'react'
import { useRead, useWrite } from '../../api/queries.ts'
import { Logo } from '../../components/connector-name.tsx'
import { Lines, Loaded, NotRead } from '../../components/loaded.tsx'
import { notifyOutcome } from '../../components/notify.ts'
import { PrepareList } from '../../components/prepare-list.tsx'
import { ReasonedButton } from '../../components/reasoned.tsx'
import { Time } from '../../components/time.tsx'
import { WithCode } from '../../components/with-code.tsx'
import { pathOf } from '../../shell/account.ts'
import { buildSource as sayBuild } from '../../strings/build-source.ts'
import { connectors as say } from '../../strings/connectors.ts'
import { Authorize } from './authorize.tsx'
import { ConfigureForm } from './configure-form.tsx'
import { useKeptCheck } from './kept-checks.ts'
import { buildSourceAt, type ConnectorOfAccount, parametersOf } from './of-account.ts'
import { useAuthorization } from './use-connect.ts'
import { useStandings } from './use-standing.ts'

/** A drawer in which a connector is configured, with what is to be known of it. */
export function ConfigureConnector({
  accountId,
  connectorId,
  configurationId,
  byHand = false,
  onClose,
  onCheck,
}: ConnectorOfAccount & {
  /** Shows the fields for credentials although a click can fill them. */
  byHand?: boolean
  onClose: () => void
  onCheck: () => void
}) {
  const connector = useRead('getConnector', { accountId, id: connectorId })
  const definition = useRead('getConnectorDefinition', { id: connectorId })
  const of = { accountId, connectorId, configurationId }
  const configuration = useRead('getConnectorConfiguration', parametersOf(of))
  const authorization = useAuthorization(of, definition.data?.reply, {
    enabled: configuration.data !== undefined,
  })
  const [changed, setChanged] = useState(false)
  // Changes when someone else's version is loaded, so that the form is rendered from it.
  const [drawn, setDrawn] = useState(0)
  const { name, docUrl, logo, integrated = false } = connector.data?.reply ?? {}
  const isNew = configuration.data?.reply.secretConfig[0]?.lastUpdated === 0
  const lastUpdated = configuration.data?.reply.lastUpdated
  const configurationName = configurationId && configuration.data?.reply.secretConfig[0]?.name
  // All at once: what arrived later would move what is read already.
  const isReading =
    [connector, definition, configuration].some(({ isPending }) => isPending) ||
    (configuration.data !== undefined && definition.data?.reply.authorization && authorization.isPending)
  const notAdded = configuration.error instanceof PenstockError && configuration.error.code === 'connector_not_added'
  return (
    <Drawer
      opened
      onClose={onClose}
      position="right"
      size="lg"
      closeOnClickOutside={!changed}
      closeOnEscape={!changed}
      title={
        <Group gap="sm" wrap="nowrap" mih={28}>
          {logo && <Logo src={logo} size={28} />}
          <Text span fw={650} fz="lg">
            {name ? say.configureTitle(say.named(name, configurationName)) : say.configure}
          </Text>
        </Group>
      }
    >
      {isReading ? (
        <Lines lines={5} />
      ) : (
        <Stack gap="md">
          {docUrl && (
            <Anchor href={new URL(docUrl, window.location.origin).pathname} target="_blank" fz="sm" w="fit-content">
              <Group gap={6} wrap="nowrap">
                <IconBook size={16} aria-hidden />
                {say.documentation}
              </Group>
            </Anchor>
          )}
          {definition.data?.reply.notes && (
            <Spoiler
              maxHeight={44}
              showLabel={say.more}
              hideLabel={say.less}
              fz="sm"
              c="dimmed"
              styles={{ control: { fontSize: 'inherit' } }}
            >
              <WithCode text={definition.data.reply.notes} />
            </Spoiler>
          )}
          {definition.data && definition.data.reply.prepare.length > 0 && (
            <details open={isNew}>
              <summary style={{ cursor: 'pointer', fontSize: 'var(--mantine-font-size-sm)', fontWeight: 600 }}>
                {say.prepare}
              </summary>
              <Box mt="xs">
                <PrepareList prepare={definition.data.reply.prepare} />
              </Box>
            </details>
          )}
          {definition.data?.reply.source?.asks && <BuildSource {...of} changed={changed} />}
          {lastUpdated !== undefined && (
            <LastCheck {...of} lastUpdated={lastUpdated} onCheck={integrated ? onCheck : undefined} />
          )}
          <Loaded query={configuration} lines={5}>
            {(opened) => (
              <Loaded query={definition} lines={5}>
                {({ reply: { secretFields, authorization: byClick } }) => {
                  const grant = authorization.data?.reply
                  return (
                    <>
                      <NotRead query={authorization} />
                      {byClick && grant && opened.reply.editable && (
                        <Authorize
                          {...of}
                          definition={byClick}
                          authorization={grant}
                          lastUpdated={opened.reply.lastUpdated}
                          // Typed values are not lost: the form says that the configuration was modified.
                          onConnected={() => !changed && setDrawn((times) => times + 1)}
                        />
                      )}
                      <ConfigureForm
                        key={drawn}
                        byClick={
                          byClick && grant?.available && opened.reply.editable
                            ? { fields: byClick.fields, authorized: grant.authorized, unfolded: byHand }
                            : undefined
                        }
                        {...of}
                        name={say.named(name ?? '', configurationName)}
                        configuration={opened}
                        definitions={secretFields}
                        readAgain={async () => (await configuration.refetch({ throwOnError: true })).data ?? opened}
                        onChanged={setChanged}
                        onTakeTheirs={() => setDrawn((times) => times + 1)}
                        onCheck={integrated ? onCheck : undefined}
                        onClose={onClose}
                      />
                    </>
                  )
                }}
              </Loaded>
            )}
          </Loaded>
          {notAdded && <AddIt accountId={accountId} connectorId={connectorId} />}
        </Stack>
      )}
    </Drawer>
  )
}

/** Leads to the screen on which the streams of the source are described. */
function BuildSource({ accountId, connectorId, configurationId, changed }: ConnectorOfAccount & { changed: boolean }) {
  return (
    <Group gap="sm">
      <ReasonedButton
        variant="light"
        reason={changed ? say.saveFirst : undefined}
        to={pathOf(accountId, buildSourceAt(connectorId, configurationId))}
        leftSection={<IconTool size={16} aria-hidden />}
      >
        {sayBuild.open}
      </ReasonedButton>
      <Text size="sm" c="dimmed">
        {sayBuild.openHelp}
      </Text>
    </Group>
  )
}

/** Says that the last check failed, unless the configuration was saved or proved to work since. */
function LastCheck({
  lastUpdated,
  onCheck,
  ...of
}: ConnectorOfAccount & {
  /** When the configuration was saved, in seconds since 1970. */
  lastUpdated: number
  onCheck: (() => void) | undefined
}) {
  const failed = useKeptCheck(of)
  const { standing } = useStandings(of.accountId)({ ...of, configured: true })
  if (!failed || failed.ok || failed.checkedTime < lastUpdated || standing !== 'failed') return null
  return (
    <Alert color="red" icon={<IconPlugConnectedX aria-hidden />} title={say.checkFailed}>
      <Stack gap="xs" align="flex-start">
        <Text size="sm" style={{ overflowWrap: 'anywhere' }}>
          {failed.message}
        </Text>
        <Group gap="sm">
          {onCheck && (
            <Button size="compact-sm" variant="default" onClick={onCheck}>
              {say.checkAgain}
            </Button>
          )}
          <Text size="xs" c="dimmed">
            {say.checked} <Time seconds={failed.checkedTime} />
          </Text>
        </Group>
      </Stack>
    </Alert>
  )
}

/** For who was led here by a link to a connector that has been removed since. */
function AddIt({ accountId, connectorId }: { accountId: string; connectorId: string }) {
  const add = useWrite('addConnectors')
  return (
    <Button
      w="fit-content"
      loading={add.isPending}
      onClick={() =>
        void notifyOutcome(add.mutateAsync({ accountId, body: { connectorIds: [connectorId] } }), ({ reply }) =>
          say.added(reply[0]?.name ?? connectorId),
        )
      }
    >
      {say.addIt}
    </Button>
  )
}
