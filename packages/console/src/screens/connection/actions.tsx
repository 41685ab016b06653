import { ActionIcon, Menu } from '@mantine/core'
import type { ConnectionDetails } from '@penstock/wire'
import {
  IconDots,
  IconPencil,
  IconPlayerPause,
  IconPlayerPlay,
  IconPower,
  IconRestore,
  IconToggleRight,
  IconTrash,
} from '@tabler/icons-react'
import type { ReactNode } from 'react'
import { ReasonedButton, ReasonedItem } from '../../components/reasoned.tsx'
import { connection as say } from '../../strings/connection.ts'
import type { Action, Reasons } from './reasons.ts'

const icons: Record<Action, ReactNode> = {
  run: <IconPlayerPlay size={18} aria-hidden />,
  activate: <IconPower size={18} aria-hidden />,
  enable: <IconToggleRight size={18} aria-hidden />,
  disable: <IconPlayerPause size={18} aria-hidden />,
  delete: <IconTrash size={18} aria-hidden />,
  restore: <IconRestore size={18} aria-hidden />,
  edit: <IconPencil size={18} aria-hidden />,
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
  /** What is being done. */
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
  if (connection.status === 'deleted') return button('restore', true)
  // The action that lets transfers start comes first, where none may start.
  const opening = (['enable', 'activate'] as const).find((action) => reasons[action] === undefined)
  return (
    <>
      {button('run', opening === undefined)}
      {opening ? button(opening, true) : button('disable', false)}
      <Menu position="bottom-end" width={300}>
        <Menu.Target>
          <ActionIcon variant="default" size={36} aria-label={say.actions}>
            <IconDots size={18} aria-hidden />
          </ActionIcon>
        </Menu.Target>
        <Menu.Dropdown>
          {(['edit', 'activate', 'enable', 'disable'] as const).map((action) => (
            <ReasonedItem key={action} icon={icons[action]} reason={reasons[action]} onClick={() => onDo(action)}>
              {say[action]}
            </ReasonedItem>
          ))}
          <Menu.Divider />
          <ReasonedItem icon={icons.delete} destructive reason={reasons.delete} onClick={() => onDo('delete')}>
            {say.delete}
          </ReasonedItem>
        </Menu.Dropdown>
      </Menu>
    </>
  )
}
