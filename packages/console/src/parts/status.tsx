import { Badge } from '@mantine/core'
import type { ConnectionStatus, TransferStatus } from '@penstock/wire'
import { parts } from '../strings/parts.ts'

/** One colour for each meaning, wherever a status is shown: badges, charts, the pipe. */
export const statusColors: Readonly<Record<ConnectionStatus, string>> = {
  'In-progress': 'water',
  active: 'teal',
  disabled: 'gray',
  deleted: 'gray',
  broken: 'red',
  offline: 'orange',
}
export const runColors: Readonly<Record<TransferStatus, string>> = {
  queued: 'gray',
  running: 'water',
  succeeded: 'teal',
  partial: 'yellow',
  failed: 'red',
  cancelled: 'gray',
}

export function ConnectionBadge({ status }: { status: ConnectionStatus }) {
  return (
    <Badge variant="dot" color={statusColors[status]} fw={500} style={{ verticalAlign: 'middle' }}>
      {parts.status[status]}
    </Badge>
  )
}

export function RunBadge({ status }: { status: TransferStatus }) {
  return (
    <Badge variant="dot" color={runColors[status]} fw={500}>
      {parts.run[status]}
    </Badge>
  )
}
