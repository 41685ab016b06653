import { Anchor, Badge, Box, Button, Card, Group, List, Stack, Text, ThemeIcon, Title } from '@mantine/core'
import { IconCircleCheck } from '@tabler/icons-react'
import { Link } from 'react-router'
import { Loaded } from '../../parts/loaded.tsx'
import { count } from '../../parts/numbers.ts'
import { runColors, statusColors } from '../../parts/status.tsx'
import { overview as say } from '../../strings/overview.ts'
import { type Concern, type Kind, useAttention } from './attention.ts'

const looks: Readonly<Record<Kind, { label: string; color: string }>> = {
  broken: { label: say.broken, color: statusColors.broken },
  offline: { label: say.offline, color: statusColors.offline },
  failed: { label: say.failed, color: runColors.failed },
  retrying: { label: say.retrying, color: runColors.partial },
  partial: { label: say.partial, color: runColors.partial },
  unfinished: { label: say.unfinished, color: statusColors['In-progress'] },
  connector: { label: say.connector, color: 'gray' },
}

/** What does not go as it should in a sub-account or in the organization. */
export function NeedsAttention({ accountId }: { accountId: string | undefined }) {
  const attention = useAttention(accountId)
  return (
    <Card withBorder component="section" aria-label={say.attention}>
      <Title order={2} size="h5" mb="xs">
        {say.attention}
      </Title>
      <Loaded query={attention} lines={4}>
        {({ concerns, more }) =>
          concerns.length === 0 ? (
            <Group gap="sm" wrap="nowrap" py="md">
              <ThemeIcon variant="light" color="teal" size="lg" radius="xl">
                <IconCircleCheck size={22} aria-hidden />
              </ThemeIcon>
              <div>
                <Text fw={550}>{say.attentionNone}</Text>
                <Text size="sm" c="dimmed">
                  {say.attentionNoneHelp}
                </Text>
              </div>
            </Group>
          ) : (
            <Stack gap={0}>
              <List
                listStyleType="none"
                spacing={0}
                styles={{ itemWrapper: { width: '100%' }, itemLabel: { width: '100%' } }}
              >
                {concerns.map((concern) => (
                  <List.Item key={concern.kind + concern.key}>
                    <Row {...concern} />
                  </List.Item>
                ))}
              </List>
              {more.length > 0 && (
                <Group gap="md" pt="sm">
                  {more.map(({ kind, n, to }) => (
                    <Anchor key={kind} component={Link} to={to} size="sm">
                      {say.more(count(n), looks[kind].label)}
                    </Anchor>
                  ))}
                </Group>
              )}
            </Stack>
          )
        }
      </Loaded>
    </Card>
  )
}

function Row({ kind, name, to, accountName, why, action }: Concern) {
  const { label, color } = looks[kind]
  return (
    <Group
      gap="sm"
      py="sm"
      justify="space-between"
      style={{ borderTop: '1px solid var(--mantine-color-default-border)' }}
    >
      <Box miw={0} style={{ flex: '1 1 16rem' }}>
        <Group gap="xs" wrap="nowrap" miw={0}>
          <Badge variant="dot" color={color} fw={500} style={{ flex: 'none' }}>
            {label}
          </Badge>
          <Anchor component={Link} to={to} fw={550} size="sm" truncate title={name}>
            {name}
          </Anchor>
          {accountName && (
            <Text span size="sm" c="dimmed" truncate visibleFrom="xs" style={{ flexShrink: 1000, minWidth: 64 }}>
              {say.inAccount(accountName)}
            </Text>
          )}
        </Group>
        {accountName && (
          <Text size="sm" c="dimmed" truncate hiddenFrom="xs" mt={4}>
            {say.inAccount(accountName)}
          </Text>
        )}
        <Text size="sm" c="dimmed" mt={4} lineClamp={2} style={{ overflowWrap: 'anywhere' }} title={why}>
          {why}
        </Text>
      </Box>
      <Button
        component={Link}
        to={action.to}
        size="compact-sm"
        variant="light"
        aria-label={`${action.label}: ${name}`}
        style={{ flex: 'none', maxWidth: '100%' }}
      >
        {action.label}
      </Button>
    </Group>
  )
}
