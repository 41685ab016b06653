import { Card, Group, Stack, Title } from '@mantine/core'
import { type ReactNode, useId } from 'react'
import classes from './build-source.module.css'

/** One step of the screen: its number, what it is called, what can be done, and what it shows. */
export function Panel({
  step,
  title,
  note,
  actions,
  className,
  children,
}: {
  /** The key beside Alt that leads to it, from 1; undefined: it is no step. */
  step?: number
  title: string
  note?: ReactNode
  actions?: ReactNode
  className?: string | undefined
  children: ReactNode
}) {
  const id = useId()
  return (
    <Card withBorder padding="md" component="section" aria-labelledby={id} className={className ?? ''}>
      <Stack gap="md">
        <Group justify="space-between" gap="sm">
          <Group gap="xs" miw={0}>
            {step !== undefined && (
              <span className={classes.step} aria-hidden>
                {step}
              </span>
            )}
            <Title order={2} size="h4" id={id} tabIndex={-1} data-step={step}>
              {title}
            </Title>
            {note}
          </Group>
          {actions && <Group gap="xs">{actions}</Group>}
        </Group>
        {children}
      </Stack>
    </Card>
  )
}
