import { Anchor, Button, Card, Group, Stack, Text, Title } from '@mantine/core'
import { type ConnectionDetails, mayTransfer } from '@penstock/wire'
import { IconPlayerPlay } from '@tabler/icons-react'
import { Link } from 'react-router'
import { useRead } from '../../../api/queries.ts'
import { Failure } from '../../../components/failure.tsx'
import { Loaded } from '../../../components/loaded.tsx'
import { Sides } from '../../../components/sides.tsx'
import { ConnectionBadge } from '../../../components/status.tsx'
import { pathOf } from '../../../shell/account.ts'
import { connectionSet as say } from '../../../strings/connection-set.ts'
import { newConnection as sayNew } from '../../../strings/new-connection.ts'
import { parametersOf } from '../../connectors/of-account.ts'
import { BothDefinitions, type Definitions } from '../both-definitions.tsx'
import { MissingList } from '../missing-list.tsx'
import { missingOf } from '../review/missing.ts'
import { useWizard, type WizardStep } from '../wizard.ts'
import { StoppedAt } from './stopped-at.tsx'
import type { Target } from './targets.ts'
import { useActivateSet } from './use-activate-set.ts'

/** The last step of a set: every connection with what it still needs, and the activation of all. */
export function ReviewSet() {
  const { accountId, targets, set, go } = useWizard()
  const ids = targets.flatMap(({ connectionId }) => connectionId ?? [])
  const { busy, stopped, skipped, isDone, run, skip } = useActivateSet(ids)
  return (
    <Stack gap="lg">
      <Stack gap="sm" component="section" aria-label={say.review}>
        <div>
          <Title order={2} size="h4">
            {say.review}
          </Title>
          <Text size="sm" c="dimmed">
            {say.reviewHelp}
          </Text>
        </div>
        {targets.map((target) => (
          <Reviewed
            key={target.connectionId}
            target={target}
            isSkipped={skipped.has(target.connectionId ?? '')}
            onEdit={(step) => go(step, { connection: target.connectionId ?? '', destination: target.connectorId })}
          />
        ))}
      </Stack>
      <Card withBorder padding="lg" component="section" aria-label={sayNew.activation}>
        <Stack gap="md">
          <Title order={2} size="h4">
            {isDone ? say.allActive(ids.length - skipped.size) : sayNew.activation}
          </Title>
          {!isDone && (
            <Text size="sm" c="dimmed">
              {say.activateHelp}
            </Text>
          )}
          {stopped && <StoppedAt stopped={stopped} busy={busy} onAgain={run} onSkip={skip} />}
          <Group gap="sm">
            {isDone ? (
              <Button component={Link} to={`${pathOf(accountId, 'connections')}?${new URLSearchParams({ tags: set })}`}>
                {say.toList}
              </Button>
            ) : (
              !stopped && (
                <Button leftSection={<IconPlayerPlay size={16} aria-hidden />} loading={busy} onClick={run}>
                  {say.activateAll}
                </Button>
              )
            )}
          </Group>
        </Stack>
      </Card>
    </Stack>
  )
}

function Reviewed(props: { target: Target; isSkipped: boolean; onEdit: (step: WizardStep) => void }) {
  const { accountId } = useWizard()
  const query = useRead('getConnection', { accountId, id: props.target.connectionId ?? '' })
  if (query.isError) return <Failure error={query.error} onRetry={() => void query.refetch()} />
  return (
    <Loaded query={query} lines={2}>
      {({ reply }) => (
        <BothDefinitions src={reply.src.connectorId} dest={reply.dest.connectorId}>
          {(definitions) => <OfSet {...props} connection={reply} definitions={definitions} />}
        </BothDefinitions>
      )}
    </Loaded>
  )
}

function OfSet({
  connection,
  definitions,
  isSkipped,
  onEdit,
}: {
  connection: ConnectionDetails
  definitions: Definitions
  isSkipped: boolean
  onEdit: (step: WizardStep) => void
}) {
  const { accountId } = useWizard()
  const { id, name, status, src, dest } = connection
  const of = (key: 'src' | 'dest') =>
    parametersOf({
      accountId,
      connectorId: connection[key].connectorId,
      configurationId: connection[`${key}ConfigurationId`],
    })
  const configurations = {
    src: useRead('getConnectorConfiguration', of('src')).data?.reply,
    dest: useRead('getConnectorConfiguration', of('dest')).data?.reply,
  }
  const missing =
    configurations.src && configurations.dest
      ? missingOf(connection, {
          src: { definition: definitions.src, configuration: configurations.src },
          dest: { definition: definitions.dest, configuration: configurations.dest },
        })
      : []
  const active = mayTransfer(status)
  return (
    <Card withBorder padding="md" component="article" aria-label={name}>
      <Stack gap="sm">
        <Group justify="space-between" gap="sm">
          <Stack gap={4} miw={0}>
            <Group gap="sm">
              <Title order={3} size="h5" style={{ overflowWrap: 'anywhere' }}>
                {name}
              </Title>
              <ConnectionBadge status={status} />
              {isSkipped && (
                <Text size="sm" c="dimmed">
                  {say.skipped}
                </Text>
              )}
            </Group>
            <Text size="sm" c="dimmed" component="div">
              <Sides src={src} dest={dest} size={16} wraps />
            </Text>
          </Stack>
          <Group gap="xs">
            {active ? (
              <Anchor component={Link} to={pathOf(accountId, `connections/${id}`)} size="sm">
                {say.toOne}
              </Anchor>
            ) : (
              <>
                <Button
                  size="compact-sm"
                  variant="default"
                  aria-label={say.settingsOf(name)}
                  onClick={() => onEdit('settings')}
                >
                  {say.settings}
                </Button>
                <Button
                  size="compact-sm"
                  variant="default"
                  aria-label={say.mappingOf(name)}
                  onClick={() => onEdit('mapping')}
                >
                  {say.mapping}
                </Button>
              </>
            )}
          </Group>
        </Group>
        {missing.length > 0 && <MissingList missing={missing} connection={connection} title={sayNew.missingTitle} />}
      </Stack>
    </Card>
  )
}
