import { Card, Center, Group, Stack, Text, Title } from '@mantine/core'
import { type FormEvent, type ReactNode, useEffect } from 'react'
import { addressOf } from '../base-path.ts'
import { shell } from '../strings/shell.ts'

/** A page with one form, for users who are not signed in. */
export function CardPage({
  title,
  help,
  onSubmit,
  children,
}: {
  title: string
  help?: ReactNode
  onSubmit?: () => void
  children?: ReactNode
}) {
  useEffect(() => {
    document.title = `${title} · ${shell.product}`
  }, [title])
  const submit = (event: FormEvent) => {
    event.preventDefault()
    onSubmit?.()
  }
  return (
    <Center mih="100vh" p="md" component="main">
      <Card w="100%" maw={420} padding="xl" withBorder shadow="sm" component="form" onSubmit={submit}>
        <Stack>
          <Group gap="sm" wrap="nowrap">
            <img src={addressOf('/docs/assets/icon.svg')} alt="" width={36} height={36} />
            <Title order={1} size="h3" style={{ overflowWrap: 'anywhere' }}>
              {title}
            </Title>
          </Group>
          {help && (
            <Text component="div" size="sm" c="dimmed">
              {help}
            </Text>
          )}
          {children}
        </Stack>
      </Card>
    </Center>
  )
}
