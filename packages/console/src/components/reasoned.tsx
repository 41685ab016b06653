import { Button, type ButtonProps, Menu, Text, Tooltip, VisuallyHidden } from '@mantine/core'
import { type ReactNode, useId } from 'react'

/**
 * Controls that may be impossible for a reason. They stay where they are and can be focused, so that everyone can read
 * why; pressing them does nothing.
 */

/** @param reason why it cannot be pressed; undefined where it can */
export function ReasonedButton({
  reason,
  onClick,
  children,
  ...rest
}: ButtonProps & { reason: string | undefined; onClick: () => void; children: ReactNode }) {
  const id = useId()
  if (reason === undefined) {
    return (
      <Button {...rest} onClick={onClick}>
        {children}
      </Button>
    )
  }
  return (
    <>
      <Tooltip label={reason} multiline maw={320} events={{ hover: true, focus: true, touch: true }}>
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
      </Tooltip>
      <VisuallyHidden id={id}>{reason}</VisuallyHidden>
    </>
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
