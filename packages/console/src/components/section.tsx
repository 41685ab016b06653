import { Box, Card, Group, Stack, Text, Title } from '@mantine/core'
import type { ReactNode } from 'react'

/**
 * A titled card of a page. A card with settings shows them as rows, and its `action` is a `DialogButton` that opens the
 * form: `FormDialog` sends the form, shows its errors and reports that it is saved.
 */
export function Section({
  title,
  note,
  help,
  action,
  region = false,
  fill = false,
  children,
}: {
  title: string
  /** Follows the title in its line, in small letters. */
  note?: ReactNode
  /** Below the title: one line that explains the settings. */
  help?: ReactNode
  /** At the end of the title line: buttons, or another control. */
  action?: ReactNode
  /** Screen readers list it as a part of the page. Not for a card with a table that has the same name. */
  region?: boolean
  /** As high as its neighbours in a grid. */
  fill?: boolean
  children: ReactNode
}) {
  const frame = region ? { component: 'section' as const, 'aria-label': title } : {}
  return (
    <Card withBorder padding="lg" {...frame} {...(fill && { h: '100%' })}>
      <Stack gap="md">
        <Group justify="space-between" align="flex-start" gap="sm">
          <Box miw={0} style={{ flex: '1 1 16rem' }}>
            <Title order={2} size="h4">
              {title}
              {note && (
                <Text span c="dimmed" size="sm" fw={400} ml="sm">
                  {note}
                </Text>
              )}
            </Title>
            {help && (
              <Text component="div" size="sm" c="dimmed">
                {help}
              </Text>
            )}
          </Box>
          {action}
        </Group>
        {children}
      </Stack>
    </Card>
  )
}

/** A value below its name. */
export function Fact({ label, children }: { label: string; children: ReactNode }) {
  return (
    <div style={{ minWidth: 0, overflowWrap: 'anywhere' }}>
      <Text size="xs" c="dimmed">
        {label}
      </Text>
      <Text component="div" size="sm">
        {children}
      </Text>
    </div>
  )
}
