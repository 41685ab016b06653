import { Badge, Text } from '@mantine/core'
import type { ConnectionStatus, Transfer } from '@penstock/wire'
import { backfill } from '../strings/backfill.ts'
import { components } from '../strings/components.ts'
import { standing as words } from '../strings/standing.ts'
import {
  type ConfigurationStanding,
  type LastResult,
  lastResultOf,
  type NextRun,
  type Standing,
  standingOf,
  type Told,
} from './standing.ts'
import { Time } from './time.tsx'

/** One colour for each meaning, wherever a status is shown: badges, charts, the connection. */
export const statusColors: Readonly<Record<Standing, string>> = {
  'In-progress': 'water',
  active: 'teal',
  failing: 'orange',
  disabled: 'gray',
  deleted: 'gray',
  broken: 'red',
  offline: 'orange',
}
export const transferColors: Readonly<Record<LastResult, string>> = {
  never: 'gray',
  queued: 'gray',
  running: 'water',
  retrying: 'yellow',
  succeeded: 'teal',
  partial: 'yellow',
  failed: 'red',
  cancelled: 'gray',
}

/** @param transfer the newest one, if it is known: an active connection fails with it */
export function ConnectionBadge({
  status,
  transfer,
}: {
  status: ConnectionStatus
  transfer?: Told | null | undefined
}) {
  return <StandingBadge standing={standingOf(status, transfer)} />
}

export function StandingBadge({ standing }: { standing: Standing }) {
  return (
    <Badge
      variant="dot"
      color={statusColors[standing]}
      fw={500}
      style={{ verticalAlign: 'middle', flex: 'none' }}
      title={words.help[standing]}
    >
      {words.connection[standing]}
    </Badge>
  )
}

/** When the next transfer starts, in words. */
export function NextRunWords({ next }: { next: NextRun }) {
  if (next.kind === 'scheduled') return <Time seconds={next.seconds} planned />
  return (
    <Text span inherit c="dimmed">
      {words.run[next.kind]}
    </Text>
  )
}

/** Marks a transfer that is a test or a backfill; nothing for others. */
export function TransferTag({
  transfer: { test, backfill: range },
}: {
  transfer: Pick<Transfer, 'test' | 'backfill'>
}) {
  const text = test ? components.test : range && backfill.tag(range.from, range.to)
  if (!text) return null
  return (
    <Badge variant="default" fw={500} tt="none">
      {text}
    </Badge>
  )
}

export function TransferBadge({ transfer }: { transfer: Told | null | undefined }) {
  const result = lastResultOf(transfer)
  return (
    <Badge variant="dot" color={transferColors[result]} fw={500}>
      {words.result[result]}
    </Badge>
  )
}

const configurationColors: Readonly<Record<ConfigurationStanding, string>> = {
  missing: 'orange',
  unchecked: 'gray',
  works: 'teal',
  failed: 'red',
}

/** @param why what the check or the transfer said */
export function ConfigurationBadge({ standing, why }: { standing: ConfigurationStanding; why?: string | undefined }) {
  return (
    <Badge
      variant="dot"
      color={configurationColors[standing]}
      fw={500}
      display="flex"
      w="fit-content"
      title={why}
      style={{ flex: 'none' }}
    >
      {words.configuration[standing]}
    </Badge>
  )
}
