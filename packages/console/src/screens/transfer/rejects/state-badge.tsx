import { Badge } from '@mantine/core'
import type { RejectState } from '@penstock/wire'
import { IconLock } from '@tabler/icons-react'
import { rejects as say } from '../../../strings/rejects.ts'

const colours: Readonly<Record<RejectState, string>> = {
  waiting: 'gray',
  needs_correction: 'orange',
  corrected: 'water',
  sending: 'water',
  accepted: 'teal',
  rejected_again: 'red',
  left_out: 'gray',
  expired: 'gray',
}

/** The state of a rejected row. A lock marks a row that cannot be sent before its correction. */
export function StateBadge({ state }: { state: RejectState }) {
  const isLocked = state === 'needs_correction'
  return (
    <Badge
      variant={isLocked ? 'default' : 'dot'}
      color={colours[state]}
      fw={500}
      {...(isLocked && { leftSection: <IconLock size={12} aria-hidden /> })}
    >
      {say.states[state]}
    </Badge>
  )
}
