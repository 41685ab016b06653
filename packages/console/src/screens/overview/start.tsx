import { Button, Card, SimpleGrid, Stack, Text, ThemeIcon, Title } from '@mantine/core'
import { IconCheck } from '@tabler/icons-react'
import { Link } from 'react-router'
import { overview as say } from '../../strings/overview.ts'

export type StartStep = {
  title: string
  help: string
  action: string
  to: string
  isDone: boolean
}

/** Steps to the first delivered record, for a new organization; the next step is highlighted. */
export function Start({ steps }: { steps: readonly StartStep[] }) {
  const next = steps.findIndex(({ isDone }) => !isDone)
  return (
    <Card withBorder padding="xl" component="section" aria-label={say.startTitle}>
      <Title order={2} size="h3">
        {say.startTitle}
      </Title>
      <Text c="dimmed" mb="xl">
        {say.startHelp}
      </Text>
      <SimpleGrid cols={{ base: 1, md: 3 }} spacing="xl">
        {steps.map(({ title, help, action, to, isDone }, i) => (
          <Stack key={title} gap="xs" align="flex-start">
            <ThemeIcon
              size={36}
              radius="xl"
              variant={i === next ? 'filled' : 'light'}
              color={isDone ? 'teal' : i === next ? 'water' : 'gray'}
              aria-label={isDone ? `${say.stepOf(i + 1)}: ${say.stepDone}` : say.stepOf(i + 1)}
              role="img"
            >
              {isDone ? <IconCheck size={20} aria-hidden /> : i + 1}
            </ThemeIcon>
            <Title order={3} size="h5">
              {title}
            </Title>
            <Text size="sm" c="dimmed" style={{ flex: 1 }}>
              {help}
            </Text>
            {!isDone && (i === next || to !== '') && (
              <Button component={Link} to={to} variant={i === next ? 'filled' : 'default'} mt="xs">
                {action}
              </Button>
            )}
          </Stack>
        ))}
      </SimpleGrid>
    </Card>
  )
}
