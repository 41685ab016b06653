import { ActionIcon, Button, type ButtonProps, Menu, Text, Tooltip, VisuallyHidden } from '@mantine/core'
import { IconDots, IconPlus } from '@tabler/icons-react'
import { type ComponentProps, Fragment, type ReactElement, type ReactNode, useId } from 'react'
import { Link } from 'react-router'

/**
 * Controls that may be impossible for a reason. They stay in place and can be focused, so that every user can read the
 * reason. Pressing them does nothing.
 */

/** @param reason why it cannot be pressed; undefined if it can */
export function ReasonedButton({
  reason,
  to,
  type = 'button',
  onClick,
  children,
  ...rest
}: ButtonProps & {
  reason: string | undefined
  /** Target of the link. */
  to?: string
  type?: 'button' | 'submit'
  onClick?: () => void
  'aria-label'?: string
  children: ReactNode
}) {
  const id = useId()
  if (reason === undefined) {
    return to === undefined ? (
      <Button {...rest} type={type} onClick={onClick}>
        {children}
      </Button>
    ) : (
      <Button {...rest} component={Link} to={to}>
        {children}
      </Button>
    )
  }
  return (
    <>
      <Reasoned reason={reason}>
        <Button
          {...rest}
          variant="default"
          data-disabled
          aria-disabled
          aria-describedby={id}
          onClick={(event) => event.preventDefault()}
        >
          {children}
        </Button>
      </Reasoned>
      <VisuallyHidden id={id}>{reason}</VisuallyHidden>
    </>
  )
}

/** Says over a control why it is impossible. */
function Reasoned({ reason, children }: { reason: string; children: ReactElement }) {
  return (
    <Tooltip label={reason} multiline maw={320} events={{ hover: true, focus: true, touch: true }}>
      {children}
    </Tooltip>
  )
}

/** The button that adds to a list. */
export function AddButton(props: Omit<ComponentProps<typeof ReasonedButton>, 'leftSection'>) {
  return <ReasonedButton {...props} leftSection={<IconPlus size={18} aria-hidden />} />
}

type MenuAction = {
  label: string
  icon?: ReactNode
  /** Why it is impossible; undefined if it is not. It is shown under the label. */
  reason?: string | undefined
  /** It takes something away. */
  destructive?: boolean
} & ({ onClick: () => void } | { to: string })

/** The actions of a resource in a menu, in groups. `page`: of the resource that the page shows, not of a row. */
export function ActionsMenu({
  label,
  groups,
  width,
  loading = false,
  page = false,
}: {
  label: string
  groups: readonly (readonly MenuAction[])[]
  width?: number
  loading?: boolean
  page?: boolean
}) {
  const looks = page ? ({ variant: 'default', size: 36 } as const) : ({ variant: 'subtle', color: 'gray' } as const)
  return (
    <Menu position="bottom-end" {...(width && { width })}>
      <Menu.Target>
        <ActionIcon {...looks} aria-label={label} loading={loading}>
          <IconDots size={18} aria-hidden />
        </ActionIcon>
      </Menu.Target>
      <Menu.Dropdown>
        {groups.map((group, at) => (
          <Fragment key={group[0]?.label}>
            {at > 0 && <Menu.Divider />}
            {group.map((action) => (
              <MenuItem key={action.label} {...action} />
            ))}
          </Fragment>
        ))}
      </Menu.Dropdown>
    </Menu>
  )
}

/** One action in a menu; with a reason, it stays there and does nothing. */
export function MenuItem({ label, icon, reason, destructive, ...does }: MenuAction) {
  const id = useId()
  if (reason !== undefined) {
    return (
      <Menu.Item
        leftSection={icon}
        aria-disabled
        aria-describedby={id}
        closeMenuOnClick={false}
        c="dimmed"
        style={{ cursor: 'default' }}
      >
        {label}
        <Text id={id} size="xs" c="dimmed" maw={260}>
          {reason}
        </Text>
      </Menu.Item>
    )
  }
  return 'to' in does ? (
    <Menu.Item leftSection={icon} component={Link} to={does.to}>
      {label}
    </Menu.Item>
  ) : (
    <Menu.Item leftSection={icon} onClick={does.onClick} {...(destructive && { c: 'var(--mantine-color-error)' })}>
      {label}
    </Menu.Item>
  )
}
