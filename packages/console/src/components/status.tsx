import { Badge } from '@mantine/core'
import type { ConnectionStatus, Transfer, TransferStatus } from '@penstock/wire'
import { backfill } from '../strings/backfill.ts'
import { components } from '../strings/components.ts'

/** One colour for each meaning, wherever a status is shown: badges, charts, the connection. */
export const statusColors: Readonly<Record<ConnectionStatus, string>> = {
  'In-progress': 'water',
  active: 'teal',
  disabled: 'gray',
  deleted: 'gray',
  broken: 'red',
  offline: 'orange',
}
export const transferColors: Readonly<Record<TransferStatus, string>> = {
  queued: 'gray',
  running: 'water',
  succeeded: 'teal',
  partial: 'yellow',
  failed: 'red',
  cancelled: 'gray',
}

/** @param failed its newest transfer failed: an active connection is shown as failing then */
export function ConnectionBadge({ status, failed = false }: { status: ConnectionStatus; failed?: boolean }) {
  if (failed && status === 'active') {
    return (
      <Badge variant="dot" color="orange" fw={500} style={{ verticalAlign: 'middle' }} title={components.failingHelp}>
        {components.failing}
      </Badge>
    )
  }
  return (
    <Badge variant="dot" color={statusColors[status]} fw={500} style={{ verticalAlign: 'middle' }}>
      {components.status[status]}
    </Badge>
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

export function TransferBadge({ status }: { status: TransferStatus }) {
  return (
    <Badge variant="dot" color={transferColors[status]} fw={500}>
      {components.transfer[status]}
    </Badge>
  )
}
