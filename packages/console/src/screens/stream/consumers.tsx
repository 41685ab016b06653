import { Anchor, Group, Stack, Text } from '@mantine/core'
import type { StreamConsumer } from '@penstock/wire'
import { Link } from 'react-router'
import { count } from '../../components/numbers.ts'
import { Section } from '../../components/section.tsx'
import { duration } from '../../components/time.tsx'
import { pathOf } from '../../shell/account.ts'
import { streams as say } from '../../strings/streams.ts'

/** The connections that read a stream, and how far behind each one is. */
export function Consumers({ accountId, consumers }: { accountId: string; consumers: readonly StreamConsumer[] }) {
  return (
    <Section title={say.consumers} region>
      {consumers.length === 0 && (
        <Text size="sm" c="dimmed">
          {say.noConsumers}
        </Text>
      )}
      <Stack gap="sm">
        {consumers.map(({ connectionId, name, behindEvents, behindSeconds }) => (
          <Group key={connectionId} justify="space-between" gap="sm">
            <Anchor component={Link} to={pathOf(accountId, `connections/${connectionId}`)} size="sm" fw={500}>
              {name}
            </Anchor>
            <Text size="sm" {...(behindEvents === 0 && { c: 'dimmed' })}>
              {behindEvents > 0
                ? say.behind(say.events(behindEvents, count(behindEvents)), duration(behindSeconds))
                : say.upToDate}
            </Text>
          </Group>
        ))}
      </Stack>
    </Section>
  )
}
