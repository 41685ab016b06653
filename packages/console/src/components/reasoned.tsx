import { Button, type ButtonProps, Menu, Text, Tooltip, VisuallyHidden } from '@mantine/core'
import { type ReactElement, type ReactNode, useId } from 'react'
import { Link } from 'react-router'

/**
 * Controls that may be impossible for a reason. They stay where they are and can be focused, so that everyone can read
 * why; pressing them does nothing.
 */

/** @param reason why it cannot be pressed; undefined where it can */
export function ReasonedButton({
  reason,
  to,
  type = 'button',
  onClick,
  children,
  ...rest
}: ButtonProps & {
  reason: string | undefined
  /** Where it leads. */
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

/** The same in a menu, where the reason is under the label. */
export function ReasonedItem({
  reason,
  onClick,
  icon,
  destructive = false,
  children,
}: {
  reason: string | undefined
  onClick: () => void
  icon?: ReactNode
  /** It takes something away. */
  destructive?: boolean
  children: ReactNode
}) {
  const id = useId()
  if (reason === undefined) {
    return (
      <Menu.Item leftSection={icon} onClick={onClick} {...(destructive ? { c: 'var(--mantine-color-error)' } : {})}>
        {children}
      </Menu.Item>
    )
  }
  return (
    <Menu.Item
      leftSection={icon}
      aria-disabled
      aria-describedby={id}
      closeMenuOnClick={false}
      c="dimmed"
      style={{ cursor: 'default' }}
    >
      {children}
      <Text id={id} size="xs" c="dimmed" maw={260}>
        {reason}
      </Text>
    </Menu.Item>
  )
}
