import { Box, Button, Card, Group, SimpleGrid, Stack, Text, ThemeIcon, Title } from '@mantine/core'
import { IconArrowRight, IconCheck } from '@tabler/icons-react'
import { Link } from 'react-router'
import { overview as say } from '../../strings/overview.ts'

export type StartStep = {
  title: string
  help: string
  action: string
  to: string
  isDone: boolean
}

/**
 * Steps to the first delivered record, for a new organization; the next step is highlighted.
 * @param to the page that leads through all of them
 */
export function Start({ steps, to }: { steps: readonly StartStep[]; to: string }) {
  const next = steps.findIndex(({ isDone }) => !isDone)
  return (
    <Card withBorder padding="xl" component="section" aria-label={say.startTitle}>
      <Group justify="space-between" align="flex-start" gap="md" mb="xl">
        <Box miw={0} style={{ flex: '1 1 16rem' }}>
          <Title order={2} size="h3">
            {say.startTitle}
          </Title>
          <Text c="dimmed">{say.startHelp}</Text>
        </Box>
        <Button component={Link} to={to} rightSection={<IconArrowRight size={18} aria-hidden />}>
          {say.firstRows}
        </Button>
      </Group>
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
              <Button component={Link} to={to} variant={i === next ? 'light' : 'default'} mt="xs">
                {action}
              </Button>
            )}
          </Stack>
        ))}
      </SimpleGrid>
    </Card>
  )
}
