import { Alert, Anchor, Button, Checkbox, Group, Stack, Text } from '@mantine/core'
import type { AttentionEntry } from '@penstock/wire'
import { IconCircleCheck } from '@tabler/icons-react'
import { type ReactNode, useEffect, useState } from 'react'
import { Link } from 'react-router'
import { kept, readOnce } from '../../api/queries.ts'
import { ReasonedButton } from '../../components/reasoned.tsx'
import { ConnectionBadge } from '../../components/status.tsx'
import { Time } from '../../components/time.tsx'
import { failing as say } from '../../strings/failing.ts'
import { configurationsOf } from '../connectors/of-account.ts'
import { type Cause, type CauseGroup, causeGroupsOf } from './cause.ts'
import { useSavedSince } from './group-cure.tsx'
import { useRunAll } from './run-all.tsx'
import { failingQuery, useFailing } from './use-failing.ts'

/** The configuration that a cause blames; undefined if no configuration cures it. */
const curedBy = ({ cause: { kind, at } }: CauseGroup) =>
  kind === 'credentials' || kind === 'configuration' ? at : undefined

const connectorIdsOf = (failing: readonly AttentionEntry[]): ReadonlySet<string> =>
  new Set(causeGroupsOf(failing).flatMap((group) => curedBy(group)?.connectorId ?? []))

/** Reads what `Cured` shows first, so that it does not move the page below it. */
export async function readCured(accountId: string): Promise<void> {
  const { reply } = await readOnce('listAttention', failingQuery(accountId))
  const read = (connectorId: string) =>
    readOnce('listConnectorConfigurations', configurationsOf(accountId, connectorId))
  await Promise.all([...connectorIdsOf(reply)].map(read))
}

/** Whether all that `Cured` shows was read, or could not be: what is shown below it before would move. */
export function useIsCuredRead(accountId: string): boolean {
  const [isRead, setRead] = useState(() => {
    const failing = kept('listAttention', failingQuery(accountId))?.reply
    const isKept = (connectorId: string) =>
      kept('listConnectorConfigurations', configurationsOf(accountId, connectorId)) !== undefined
    return failing !== undefined && [...connectorIdsOf(failing)].every(isKept)
  })
  useEffect(() => {
    const show = () => setRead(true)
    readCured(accountId).then(show, show)
  }, [accountId])
  return isRead
}

/**
 * The connections that a configuration stopped, once it was saved: ticked, with one button that runs them.
 * @param concerns whether the page is about this configuration
 * @param except a connection that the page itself activates
 */
export function Cured({
  accountId,
  concerns = () => true,
  except,
}: {
  accountId: string
  concerns?: (at: NonNullable<Cause['at']>) => boolean
  except?: string | undefined
}): ReactNode {
  const { data } = useFailing(accountId)
  const groups = causeGroupsOf(data?.reply.filter(({ id }) => id !== except) ?? [])
  return groups.map((group) => {
    const at = curedBy(group)
    return at && concerns(at) ? <CuredGroup key={group.cause.key} group={group} at={at} /> : null
  })
}

function CuredGroup({
  group: { cause, connections },
  at: { connectorId, connectorName, configurationId },
}: {
  group: CauseGroup
  at: NonNullable<Cause['at']>
}) {
  const isSaved = useSavedSince({ accountId: cause.accountId, connectorId, configurationId }, connections)
  const [left, setLeft] = useState<ReadonlySet<string>>(new Set())
  const [isDismissed, setDismissed] = useState(false)
  const { run, isRunning, forbidden, dialog } = useRunAll()
  if (!isSaved || isDismissed) return dialog
  const chosen = connections.filter(({ id }) => !left.has(id))
  const toggle = (id: string) =>
    setLeft(left.has(id) ? new Set([...left].filter((one) => one !== id)) : new Set([...left, id]))
  return (
    <Alert color="teal" icon={<IconCircleCheck aria-hidden />} title={say.works(connectorName)} role="status">
      <Group justify="space-between" gap="sm" mb="sm">
        <Text size="sm" style={{ flex: '1 1 14rem' }}>
          {say.stopped(connections.length)}
        </Text>
        <Group gap="xs">
          <ReasonedButton
            size="compact-md"
            loading={isRunning}
            disabled={chosen.length === 0}
            reason={forbidden}
            onClick={() => void run(chosen)}
          >
            {say.run(chosen.length)}
          </ReasonedButton>
          <Button size="compact-md" variant="default" onClick={() => setDismissed(true)}>
            {say.notNow}
          </Button>
        </Group>
      </Group>
      <Stack component="ul" gap="xs" m={0} p={0} style={{ listStyle: 'none' }}>
        {connections.map((one) => (
          <Group key={one.id} component="li" gap="sm" fz="sm">
            <Checkbox aria-label={one.name} checked={!left.has(one.id)} onChange={() => toggle(one.id)} />
            <Anchor component={Link} to={`/accounts/${one.accountId}/connections/${one.id}`} fz="inherit" fw={550}>
              {one.name}
            </Anchor>
            <Text span size="sm" c="dimmed">
              {say.stoppedAt} <Time seconds={one.lastTransfer?.finishedTime} />
            </Text>
            <ConnectionBadge status={one.status} transfer={one.lastTransfer} />
          </Group>
        ))}
      </Stack>
      {dialog}
    </Alert>
  )
}
