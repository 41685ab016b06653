import type { ConnectionDetails } from '@penstock/wire'
import {
  IconCalendarDown,
  IconCopy,
  IconFlask,
  IconPencil,
  IconPlayerPause,
  IconPlayerPlay,
  IconPower,
  IconRestore,
  IconToggleRight,
  IconTrash,
} from '@tabler/icons-react'
import type { ReactNode } from 'react'
import { ActionsMenu, ReasonedButton } from '../../components/reasoned.tsx'
import { connection as say } from '../../strings/connection.ts'
import type { Action, Reasons } from './reasons.ts'

const icons: Record<Action, ReactNode> = {
  run: <IconPlayerPlay size={18} aria-hidden />,
  test: <IconFlask size={18} aria-hidden />,
  backfill: <IconCalendarDown size={18} aria-hidden />,
  activate: <IconPower size={18} aria-hidden />,
  enable: <IconToggleRight size={18} aria-hidden />,
  disable: <IconPlayerPause size={18} aria-hidden />,
  delete: <IconTrash size={18} aria-hidden />,
  restore: <IconRestore size={18} aria-hidden />,
  edit: <IconPencil size={18} aria-hidden />,
  duplicate: <IconCopy size={18} aria-hidden />,
}

/** Everything that can be done with a connection; what cannot be done now says why. */
export function Actions({
  connection,
  reasons,
  busy,
  onDo,
}: {
  connection: ConnectionDetails
  reasons: Reasons
  /** The action in progress. */
  busy: Action | undefined
  onDo: (action: Action) => void
}) {
  const button = (action: Action, first: boolean) => (
    <ReasonedButton
      key={action}
      variant={first ? 'filled' : 'default'}
      leftSection={icons[action]}
      reason={reasons[action]}
      loading={busy === action}
      onClick={() => onDo(action)}
    >
      {say[action]}
    </ReasonedButton>
  )
  const item = (action: Action) => ({
    label: say[action],
    icon: icons[action],
    reason: reasons[action],
    onClick: () => onDo(action),
  })
  if (connection.status === 'deleted') return button('restore', true)
  // The action that lets transfers start comes first, if none may start.
  const opening = (['enable', 'activate'] as const).find((action) => reasons[action] === undefined)
  return (
    <>
      {button('run', opening === undefined)}
      {opening ? button(opening, true) : button('disable', false)}
      <ActionsMenu
        page
        label={say.actions}
        width={300}
        groups={[
          (['test', 'backfill', 'edit', 'duplicate', 'activate', 'enable', 'disable'] as const).map(item),
          [{ ...item('delete'), destructive: true }],
        ]}
      />
    </>
  )
}
