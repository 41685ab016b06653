import { Box, Group, Stack, Text, Title } from '@mantine/core'
import { type ReactNode, useEffect } from 'react'
import { shell } from '../strings/shell.ts'

/** A screen: its title, which is the tab's too, what can be done here, and what it shows. */
export function Page({
  title,
  help,
  actions,
  children,
}: {
  title: string
  help?: ReactNode
  actions?: ReactNode
  children: ReactNode
}) {
  useEffect(() => {
    document.title = `${title} · ${shell.product}`
  }, [title])
  return (
    <Stack gap="lg" maw={1440} mx="auto" w="100%">
      <Group justify="space-between" align="flex-start" gap="md">
        <Box miw={0} style={{ flex: '1 1 16rem' }}>
          <Title order={1} size="h2" style={{ overflowWrap: 'anywhere' }}>
            {title}
          </Title>
          {help && (
            <Text component="div" c="dimmed" size="sm" mt={4}>
              {help}
            </Text>
          )}
        </Box>
        {actions && <Group gap="sm">{actions}</Group>}
      </Group>
      {children}
    </Stack>
  )
}

/** Shown in place of an empty list: why it is empty, and what to do. */
export function Empty({ title, help, action }: { title: string; help?: ReactNode; action?: ReactNode }) {
  return (
    <Stack align="center" gap="xs" py={56} px="md" ta="center">
      <Text fw={600}>{title}</Text>
      {help && (
        <Text component="div" c="dimmed" size="sm" maw={480}>
          {help}
        </Text>
      )}
      {action && <Box mt="sm">{action}</Box>}
    </Stack>
  )
}

/** The row above a list: search, filters, what else narrows it. */
export function Toolbar({ children }: { children: ReactNode }) {
  return (
    <Group gap="sm" align="flex-end">
      {children}
    </Group>
  )
}
