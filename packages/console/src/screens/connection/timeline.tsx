import { Anchor, Box, Button, Card, Text, ThemeIcon, Timeline } from '@mantine/core'
import { type ConnectionDetails, type ConnectionEvent, connectionStatuses, limits, type Transfer } from '@penstock/wire'
import {
  IconArrowRampRight,
  IconCalendarTime,
  IconChecklist,
  IconClockPause,
  IconColumns,
  IconPencil,
  IconPlus,
  IconRestore,
  IconSettings,
  IconToggleRight,
  IconTransfer,
} from '@tabler/icons-react'
import { useState } from 'react'
import { Link } from 'react-router'
import { definitionsRead } from '../../api/definitions.ts'
import { useRead } from '../../api/queries.ts'
import { Loaded } from '../../components/loaded.tsx'
import { count } from '../../components/numbers.ts'
import { Empty } from '../../components/page.tsx'
import { labelOf } from '../../components/problems.ts'
import { statusColors, transferColors } from '../../components/status.tsx'
import { Time } from '../../components/time.tsx'
import { backfill } from '../../strings/backfill.ts'
import { connection as say } from '../../strings/connection.ts'
import { runConditions } from '../../strings/run-conditions.ts'
import { standing as words } from '../../strings/standing.ts'
import { stateCard } from '../../strings/state-card.ts'
import { pathOfTransfer } from '../transfer/paths.ts'
import { startOf } from '../transfer/start-of.ts'
import { wordsOfCron } from './schedule-card.tsx'
import { againWhileActive } from './use-connection.ts'

const step = 25
const icons = {
  created: IconPlus,
  renamed: IconPencil,
  settings: IconSettings,
  status: IconToggleRight,
  schedule: IconCalendarTime,
  columns: IconColumns,
  rules: IconChecklist,
  state: IconRestore,
  run_conditions: IconArrowRampRight,
  dependency_failed: IconClockPause,
}

type Entry = { time: number } & ({ event: ConnectionEvent } | { transfer: Transfer })

function happened({ test, backfill: range, status }: Transfer): string {
  const shown = words.result[status]
  if (range) return backfill.happened(range.from, range.to, shown)
  return (test ? say.testHappened : say.transferHappened)(shown)
}

/** Everything that happened to the connection, newest first: its transfers, and what was changed of it. */
export function History({ connection }: { connection: ConnectionDetails }) {
  const [shown, setShown] = useState(step)
  const { accountId, id } = connection
  const of = { accountId, id, query: { size: Math.min(shown, limits.pageSizeMax) } }
  // The newest of both together are among the newest of each.
  const events = useRead('listConnectionEvents', of, { keep: true, againAfterMs: 15_000 })
  const transfers = useRead('listTransfers', of, { keep: true, againAfterMs: againWhileActive })
  return (
    <Loaded query={events} lines={6} quiet>
      {({ reply, total }) => {
        const entries = merged(reply, transfers.data?.reply ?? []).slice(0, shown)
        const isMore = total + (transfers.data?.total ?? 0) > entries.length && shown < limits.pageSizeMax
        if (entries.length === 0) return <Empty title={say.noEvents} />
        return (
          <Card withBorder padding="lg">
            <Timeline bulletSize={30} lineWidth={2}>
              {entries.map((entry) =>
                'transfer' in entry ? (
                  <Timeline.Item
                    key={entry.transfer.id}
                    bullet={
                      <ThemeIcon size={30} radius="xl" variant="light" color={transferColors[entry.transfer.status]}>
                        <IconTransfer size={16} aria-hidden />
                      </ThemeIcon>
                    }
                    title={
                      <Anchor component={Link} to={pathOfTransfer(entry.transfer)} fw={550} fz="sm">
                        {happened(entry.transfer)}
                      </Anchor>
                    }
                  >
                    <TransferWords transfer={entry.transfer} />
                    <When seconds={entry.time} />
                  </Timeline.Item>
                ) : (
                  <Timeline.Item
                    key={entry.event.id}
                    bullet={<Bullet event={entry.event} />}
                    title={
                      <Text fw={550} size="sm" style={{ overflowWrap: 'anywhere' }}>
                        {wordsOf(entry.event)}
                      </Text>
                    }
                  >
                    <EventWords event={entry.event} />
                    <When seconds={entry.time} />
                  </Timeline.Item>
                ),
              )}
            </Timeline>
            {isMore && (
              <Box mt="lg">
                <Button
                  variant="default"
                  size="sm"
                  loading={events.isPlaceholderData}
                  onClick={() => setShown(shown + step)}
                >
                  {say.more}
                </Button>
              </Box>
            )}
          </Card>
        )
      }}
    </Loaded>
  )
}

/** Of what happened in the same second: a transfer comes after what prepared it, and before what it broke. */
function merged(events: readonly ConnectionEvent[], transfers: readonly Transfer[]): Entry[] {
  return [
    ...events.map((event): Entry => ({ time: event.time, event })),
    ...transfers.map((transfer): Entry => ({ time: transfer.createdTime, transfer })),
  ].sort((one, other) => other.time - one.time || rankOf(other) - rankOf(one))
}

function rankOf(entry: Entry): number {
  if ('transfer' in entry) return 1
  return entry.event.to === 'broken' || entry.event.to === 'offline' ? 2 : 0
}

function Bullet({ event }: { event: ConnectionEvent }) {
  const Icon = icons[event.kind]
  const status = event.kind === 'status' ? connectionStatuses.find((one) => one === event.to) : undefined
  return (
    <ThemeIcon size={30} radius="xl" variant="light" color={status ? statusColors[status] : 'gray'}>
      <Icon size={16} aria-hidden />
    </ThemeIcon>
  )
}

function TransferWords({ transfer }: { transfer: Transfer }) {
  const { read, accepted, rejected } = transfer.records
  return (
    <>
      <Text size="sm" className="figures">
        {say.transferCounts(count(read), count(accepted), count(rejected))}
      </Text>
      {transfer.trigger === 'dependency' && (
        <Text size="sm" c="dimmed" style={{ overflowWrap: 'anywhere' }}>
          {startOf(transfer)}
        </Text>
      )}
      {transfer.error && (
        <Text size="sm" c="dimmed" style={{ overflowWrap: 'anywhere' }}>
          {transfer.error.message}
        </Text>
      )}
    </>
  )
}

/** The actor, and for settings the values before and after. */
function EventWords({ event: { actor, changes } }: { event: ConnectionEvent }) {
  const shown = (value: string | null) => (value === null ? say.noValue : value)
  return (
    <>
      {changes?.map(({ key, from, to }) => (
        <Text key={key} size="sm" style={{ overflowWrap: 'anywhere' }}>
          {say.settingChanged(labelOf(key, definitionsRead()), shown(from), shown(to))}
        </Text>
      ))}
      {actor && (
        <Text size="sm" c="dimmed" style={{ overflowWrap: 'anywhere' }}>
          {say.by(say.actors[actor.kind](actor.name ?? actor.id ?? ''))}
        </Text>
      )}
    </>
  )
}

const When = ({ seconds }: { seconds: number }) => (
  <Text size="xs" c="dimmed" component="div" mt={2}>
    <Time seconds={seconds} />
  </Text>
)

/** In the form of the history: cron, time zone, and “off” if it is not enabled. */
function scheduleInWords(text: string): string {
  const [, cron, zone, off] = /^((?:\S+ ){4}\S+|@\S+) (\S+)( off)?$/.exec(text) ?? []
  return cron && zone ? say.inZone(wordsOfCron(cron), zone, off !== undefined) : text
}

function wordsOf({ kind, from, to }: ConnectionEvent): string {
  const statusOf = (text: string | null) => {
    const status = connectionStatuses.find((one) => one === text)
    return status ? words.connection[status] : (text ?? '')
  }
  switch (kind) {
    case 'created':
      return say.created(to ?? '')
    case 'renamed':
      return say.renamed(from ?? '', to ?? '')
    case 'settings':
      return say.settingsChanged(to ?? '')
    case 'columns':
      return say.columnsChanged(to ?? '')
    case 'rules':
      return to === null ? say.rulesGone : say.rulesSet(to)
    case 'run_conditions':
      return to === null ? runConditions.gone : runConditions.set(to)
    case 'dependency_failed':
      return runConditions.notStarted(to ?? '', from ?? '')
    case 'state':
      return stateCard.happened(to ?? '', from ?? '')
    case 'status':
      return from === null ? say.statusSet(statusOf(to)) : say.statusChanged(statusOf(from), statusOf(to))
    case 'schedule':
      if (from === null) return say.scheduleSet(scheduleInWords(to ?? ''))
      return to === null
        ? say.scheduleGone(scheduleInWords(from))
        : say.scheduleChanged(scheduleInWords(from), scheduleInWords(to))
  }
}
