import { Alert, Anchor, Box, Button, Group, Stack, Text } from '@mantine/core'
import type { ColumnChange, ConnectionDetails, Transfer } from '@penstock/wire'
import { IconArrowBackUp, IconArrowsExchange, IconCheck, IconColumns, IconMinus, IconPlus } from '@tabler/icons-react'
import { type ReactNode, useState } from 'react'
import { Link } from 'react-router'
import { useForbidden } from '../../api/me.ts'
import { useRead, useWrite } from '../../api/queries.ts'
import { notifyOutcome } from '../../components/notify.ts'
import { ReasonedButton } from '../../components/reasoned.tsx'
import { Time, useNow } from '../../components/time.tsx'
import { useFirst } from '../../components/use-first.tsx'
import { columnChanges as say } from '../../strings/column-changes.ts'
import { type ColumnGroup, columnGroupsOf, namesColumns } from './column-groups.ts'
import { columnNewsOf, newestChanges } from './column-news.ts'
import { StoppedTables } from './stopped-tables.tsx'

const shownMax = 20

/** The columns that changed since the last successful transfer, and did not stop this one. */
export function ColumnChanges({
  connection,
  changes,
  seconds,
}: {
  connection: ConnectionDetails
  changes: readonly ColumnChange[]
  /** When they were found, in seconds since 1970. */
  seconds: number
}) {
  const { accountId, id, dest, destConnectionConfig } = connection
  if (changes.length === 0) return null
  const mapped = namesColumns(destConnectionConfig.mapping)
  const sentences = columnNewsOf(changes, { table: tableOf(connection) ?? dest.connectorName, mapped })
  const isUnsent = mapped && changes.some(({ side, change }) => side === 'source' && change === 'added')
  return (
    <Alert color="gray" icon={<IconColumns aria-hidden />} role="status">
      <Stack gap={4}>
        {sentences.map((sentence) => (
          <Text key={sentence} size="sm" fw={600} style={{ overflowWrap: 'anywhere' }}>
            {sentence}
          </Text>
        ))}
        <Group gap="sm">
          <Text size="sm" c="dimmed">
            <Time seconds={seconds} />
          </Text>
          {isUnsent && (
            <Anchor
              component={Link}
              size="sm"
              to={`/accounts/${accountId}/connections/new?${new URLSearchParams({ connection: id, step: 'mapping' })}`}
            >
              {say.toMapping}
            </Anchor>
          )}
        </Group>
      </Stack>
    </Alert>
  )
}

/** The table of a destination, with its schema if that is a setting. */
function tableOf({ destConnectionConfig: { schema, table } }: ConnectionDetails): string | undefined {
  if (typeof table !== 'string' || table === '') return undefined
  return typeof schema === 'string' && schema !== '' && !table.includes('.') ? `${schema}.${table}` : table
}

const newsSeconds = 7 * 86_400
const eventsRead = 25

/** The same on the page of the connection, from its history, for some days: transfers without changes follow. */
export function RecentColumnChanges({ connection }: { connection: ConnectionDetails }) {
  const { accountId, id } = connection
  const { data } = useRead('listConnectionEvents', { accountId, id, query: { size: eventsRead } }, { keep: true })
  const news = data && newestChanges(data.reply)
  const now = useNow() / 1000
  if (!news || now - news.time > newsSeconds) return null
  return <ColumnChanges connection={connection} changes={news.changes} seconds={news.time} />
}

const icons: Readonly<Record<ColumnChange['change'], ReactNode>> = {
  added: <IconPlus size={16} color="var(--mantine-color-teal-filled)" aria-hidden />,
  renamed: <IconArrowsExchange size={16} color="var(--mantine-color-yellow-filled)" aria-hidden />,
  removed: <IconMinus size={16} aria-hidden />,
  retyped: <IconArrowsExchange size={16} color="var(--mantine-color-yellow-filled)" aria-hidden />,
}

type Decision = 'accept' | 'add'

/**
 * The columns that stopped the newest transfer, in groups. Each group has its consequence, its action, and *Undo* until the
 * next transfer, which starts when everything is accepted. Nothing is sent to the service before.
 */
export function StoppedByColumns({
  connection,
  reason,
  onStarted,
}: {
  connection: ConnectionDetails
  /** Why no transfer can start. */
  reason: string | undefined
  onStarted?: (transfer: Transfer) => void
}) {
  const { accountId, id, dest, srcConnectionConfig, destConnectionConfig } = connection
  const drift = useRead('getDrift', { accountId, id }).data?.reply
  const accept = useWrite('setDrift')
  const start = useWrite('startTransfer')
  const whyNot = useForbidden('setDrift') ?? reason
  const [decided, setDecided] = useState<Readonly<Record<string, Decision>>>({})
  const changes = drift?.changes ?? []
  if (drift?.tables && changes.length === 0) {
    return <StoppedTables connection={connection} tables={drift.tables} reason={reason} onStarted={onStarted} />
  }
  if (changes.length === 0) return null
  // The columns of a table may not be known yet, and it can get new ones all the same.
  const hasTable = drift?.destination !== null || typeof destConnectionConfig.table === 'string'
  const groups = columnGroupsOf(changes, connection, hasTable)
  const isDecided = groups.every(({ key }) => key in decided)
  const decide = (key: string, decision: Decision | undefined) =>
    setDecided(({ [key]: _, ...others }) => (decision === undefined ? others : { ...others, [key]: decision }))
  const run = async () => {
    const add = groups.some(({ key, adds }) => (decided[key] ?? (adds ? 'add' : 'accept')) === 'add')
    await accept.mutateAsync({ accountId, id, body: { accept: true, add } })
    const { reply } = await start.mutateAsync({ accountId, id, body: {} })
    onStarted?.(reply)
  }
  const table = typeof srcConnectionConfig.table === 'string' ? srcConnectionConfig.table : undefined
  return (
    <Alert
      color="yellow"
      icon={<IconColumns aria-hidden />}
      title={say.stopped(changes.length, table)}
      role="alert"
      styles={{ body: { minWidth: 0 } }}
    >
      <Group justify="space-between" gap="sm" mb="sm">
        <Text size="sm" style={{ flex: '1 1 20rem' }}>
          {say.waits}
        </Text>
        <ReasonedButton
          size="compact-md"
          reason={whyNot}
          loading={accept.isPending || start.isPending}
          onClick={() => void notifyOutcome(run(), say.accepted)}
        >
          {isDecided ? say.runAll : say.acceptAll}
        </ReasonedButton>
      </Group>
      <Stack component="ul" gap={0} m={0} p={0} style={{ listStyle: 'none' }}>
        {groups.map((group) => (
          <Line
            key={group.key}
            group={group}
            destination={dest.connectorName}
            decision={decided[group.key]}
            reason={whyNot}
            onDecide={(decision) => decide(group.key, decision)}
          />
        ))}
      </Stack>
    </Alert>
  )
}

function Line({
  group,
  destination,
  decision,
  reason,
  onDecide,
}: {
  group: ColumnGroup
  destination: string
  decision: Decision | undefined
  reason: string | undefined
  onDecide: (decision: Decision | undefined) => void
}) {
  const { change, columns, adds, mapped } = group
  const { shown, more } = useFirst(columns, shownMax)
  const name = say.group(group, destination)
  const consequence = say.consequence({ ...group, adds: decision ? decision === 'add' : adds }, destination)
  return (
    <Box component="li" py="xs" style={{ borderTop: '1px solid var(--mantine-color-default-border)' }}>
      <Group gap="md" align="flex-start">
        <Group gap={6} wrap="nowrap" w={170} style={{ flex: 'none' }}>
          {icons[change]}
          <Text size="sm" fw={600}>
            {name}
          </Text>
        </Group>
        <Box style={{ flex: '1 1 11rem', overflowWrap: 'anywhere' }} miw={0}>
          {shown.map((one) => (
            <Text key={one.column} size="sm" ff="monospace">
              {say.column(one)}
            </Text>
          ))}
          {more}
        </Box>
        <Group gap={6} wrap="nowrap" align="flex-start" style={{ flex: '2 1 14rem' }} miw={0}>
          {decision && <IconCheck size={16} color="var(--mantine-color-teal-filled)" aria-hidden />}
          <Text size="sm">{consequence}</Text>
        </Group>
        <Group gap="xs" justify="flex-end" style={{ flex: '0 1 15rem' }}>
          {decision ? (
            <Button
              size="compact-sm"
              variant="subtle"
              leftSection={<IconArrowBackUp size={14} aria-hidden />}
              aria-label={say.undoOf(name)}
              onClick={() => onDecide(undefined)}
            >
              {say.undo}
            </Button>
          ) : (
            <>
              {adds && mapped && (
                <ReasonedButton size="compact-sm" variant="subtle" reason={reason} onClick={() => onDecide('accept')}>
                  {say.decide(group, false)}
                </ReasonedButton>
              )}
              <ReasonedButton
                size="compact-sm"
                variant="default"
                reason={reason}
                onClick={() => onDecide(adds ? 'add' : 'accept')}
              >
                {say.decide(group, adds)}
              </ReasonedButton>
            </>
          )}
        </Group>
      </Group>
    </Box>
  )
}
