import { Group, Paper } from '@mantine/core'
import type { ReactNode } from 'react'

/** The selection and its actions, above the end of the window, wherever the page is scrolled to. */
export function SelectionBar({ label, wrap, children }: { label: string; wrap?: 'nowrap'; children: ReactNode }) {
  return (
    <Paper
      withBorder
      shadow="lg"
      px="md"
      py="sm"
      radius="md"
      pos="sticky"
      role="region"
      aria-label={label}
      style={{ zIndex: 10, bottom: 'var(--penstock-selection-bar)' }}
    >
      <Group justify="space-between" gap="sm" {...(wrap && { wrap })}>
        {children}
      </Group>
    </Paper>
  )
}
