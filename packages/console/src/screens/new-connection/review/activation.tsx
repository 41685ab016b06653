import { Anchor, Button, Card, Group, Stack, Text, Title } from '@mantine/core'
import type { ConnectionDetails } from '@penstock/wire'
import { lifecycle, mayTransfer } from '@penstock/wire'
import { IconCircleCheck, IconPlayerPlay } from '@tabler/icons-react'
import { useState } from 'react'
import { Link, useNavigate } from 'react-router'
import { useForbidden } from '../../../api/me.ts'
import { useWrite } from '../../../api/queries.ts'
import { Activate } from '../../../components/activate.tsx'
import { Failure } from '../../../components/failure.tsx'
import { ReasonedButton } from '../../../components/reasoned.tsx'
import { ConnectionBadge } from '../../../components/status.tsx'
import { pathOf } from '../../../shell/account.ts'
import { newConnection as say } from '../../../strings/new-connection.ts'
import { TestButton } from '../../connection/test-transfer.tsx'
import { useReasons } from '../../connection/use-connection.ts'
import type { Definitions } from '../both-definitions.tsx'
import { MissingList } from '../missing-list.tsx'
import { idleNames } from '../settings.ts'
import { useWizard } from '../wizard.ts'

/**
 * Activates the connection and starts its first transfer, which the page of the connection then shows. It can also be
 * activated alone: it then waits for its schedule, or for someone who starts a transfer.
 */
export function Activation({ connection, definitions }: { connection: ConnectionDetails; definitions: Definitions }) {
  const { accountId, go } = useWizard()
  const { busy, failure, activate, run } = useSteps(connection)
  const [asks, setAsks] = useState<'activate' | 'run'>()
  const idle = idleNames(definitions.src, definitions.dest)
  const notStarted = useForbidden('startTransfer')
  const active = mayTransfer(connection.status)
  const reasons = useReasons(connection, undefined)
  const notActivated = 'refused' in lifecycle[connection.status].activate ? say.isDeleted : undefined
  const whyNoTransfer = (idle.length > 0 ? say.movesNothingYet(idle.join(', ')) : undefined) ?? notStarted
  const runIcon = <IconPlayerPlay size={16} aria-hidden />
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
          {whyNoTransfer ?? (active ? say.transferHelp : say.activationHelp)}
        </Text>
        {failure !== undefined && <Refused failure={failure} connection={connection} />}
        {asks && (
          <Activate
            connection={connection}
            runs={asks === 'run'}
            onActivate={() => void (asks === 'run' ? run() : activate())}
            onClose={() => setAsks(undefined)}
          />
        )}
        <Group gap="sm">
          <Button variant="default" onClick={() => go('mapping')}>
            {say.back}
          </Button>
          {active ? (
            <ReasonedButton
              leftSection={runIcon}
              loading={busy !== undefined}
              reason={whyNoTransfer}
              onClick={() => void run()}
            >
              {say.runNow}
            </ReasonedButton>
          ) : (
            <>
              {whyNoTransfer === undefined && (
                <ReasonedButton
                  leftSection={runIcon}
                  loading={busy === 'run'}
                  disabled={busy === 'activate'}
                  reason={notActivated}
                  onClick={() => setAsks('run')}
                >
                  {say.activateAndRun}
                </ReasonedButton>
              )}
              <ReasonedButton
                {...(whyNoTransfer === undefined && { variant: 'default' })}
                loading={busy === 'activate'}
                disabled={busy === 'run'}
                reason={notActivated}
                onClick={() => setAsks('activate')}
              >
                {say.activate}
              </ReasonedButton>
            </>
          )}
          {active && <TestButton connection={connection} reason={reasons.test} />}
          {active && (
            <Anchor component={Link} to={pathOf(accountId, `connections/${connection.id}`)} size="sm" ml="xs">
              {say.goToConnection}
            </Anchor>
          )}
        </Group>
      </Stack>
    </Card>
  )
}

/** Activates and runs. A connection whose transfer is refused stays active. */
function useSteps(connection: ConnectionDetails) {
  const { accountId, etag, keys, drop, setAt } = useWizard()
  const { id, status } = connection
  const navigate = useNavigate()
  const setStatus = useWrite('updateConnectionStatus')
  const start = useWrite('startTransfer')
  const [busy, setBusy] = useState<'activate' | 'run'>()
  const [failure, setFailure] = useState<unknown>()
  const attempt = async (step: 'activate' | 'run', work: () => Promise<unknown>) => {
    setBusy(step)
    setFailure(undefined)
    try {
      await work()
    } catch (error) {
      setFailure(error)
    } finally {
      setBusy(undefined)
    }
  }
  const toActive = async () => {
    if (!mayTransfer(status)) {
      await setStatus.mutateAsync({ accountId, id, body: { action: 'activate' }, ifMatch: etag })
    }
  }
  return {
    busy,
    failure,
    activate: () => attempt('activate', toActive),
    run: () =>
      attempt('run', async () => {
        await toActive()
        await start.mutateAsync({ accountId, id, body: {} })
        // The connection is complete: its draft is dropped and no longer offered to continue.
        drop(keys.name, keys.src, keys.dest, keys.srcConfiguration, keys.destConfiguration, keys.mapping)
        setAt(undefined)
        void navigate(pathOf(accountId, `connections/${id}`))
      }),
  }
}

function Refused({ failure, connection }: { failure: unknown; connection: ConnectionDetails }) {
  const isNotReady = failure instanceof Error && 'code' in failure && failure.code === 'connection_not_ready'
  return isNotReady ? (
    <MissingList error={failure} connection={connection} title={say.refusedAsMissing} />
  ) : (
    <Failure error={failure} />
  )
}
