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

/** The shades of these that are seen in both themes. */
const dots: Readonly<Record<string, string>> = { gray: 'gray.5', water: 'water.5' }
export const dotOf = (color: string): string => dots[color] ?? color

export function ConnectionBadge({ status }: { status: ConnectionStatus }) {
  return (
    <Badge variant="dot" color={dotOf(statusColors[status])} tt="none" fw={500} style={{ verticalAlign: 'middle' }}>
      {parts.status[status]}
    </Badge>
  )
}

export function RunBadge({ status }: { status: TransferStatus }) {
  return (
    <Badge variant="dot" color={dotOf(runColors[status])} tt="none" fw={500}>
      {parts.run[status]}
    </Badge>
  )
}
