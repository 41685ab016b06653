import { Badge, Card, Group, List, Stack, Text, Title } from '@mantine/core'
import type { ConnectionDetails } from '@penstock/wire'
import { IconPencil } from '@tabler/icons-react'
import { useState } from 'react'
import { useForbidden } from '../../api/me.ts'
import { useRead } from '../../api/queries.ts'
import { Loaded } from '../../components/loaded.tsx'
import { ReasonedButton } from '../../components/reasoned.tsx'
import { connectionRules as say } from '../../strings/connection-rules.ts'
import { EditRules } from './edit-rules.tsx'

/** The rules that judge each transfer of the connection. */
export function RulesCard({ connection, reason }: { connection: ConnectionDetails; reason: string | undefined }) {
  const { accountId, id } = connection
  const query = useRead('getConnectionRules', { accountId, id })
  const whyNot = useForbidden('setConnectionRules') ?? reason
  const [edits, setEdits] = useState(false)
  return (
    <Card withBorder padding="lg">
      <Group justify="space-between" mb="md">
        <Title order={2} size="h4">
          {say.title}
        </Title>
        <ReasonedButton
          variant="default"
          size="xs"
          leftSection={<IconPencil size={16} aria-hidden />}
          reason={whyNot}
          onClick={() => setEdits(true)}
        >
          {say.edit}
        </ReasonedButton>
      </Group>
      <Loaded query={query} lines={2} quiet>
        {({ reply: { rules, blackout } }) => (
          <Stack gap="sm">
            {rules.length === 0 && <Text size="sm">{say.none}</Text>}
            <Text size="sm" c="dimmed">
              {say.help}
            </Text>
            {rules.length > 0 && (
              <List size="sm" spacing="xs" style={{ overflowWrap: 'anywhere' }}>
                {rules.map((rule) => (
                  <List.Item key={JSON.stringify(rule)}>
                    {say.words(rule)}{' '}
                    <Badge variant="default" color="gray" size="sm">
                      {say.actions[rule.action]}
                    </Badge>
                  </List.Item>
                ))}
              </List>
            )}
            {blackout && (
              <Text size="sm">
                {say.blackout}: {blackout.windows.map(say.windowWords).join('; ')} ({blackout.timezone})
              </Text>
            )}
          </Stack>
        )}
      </Loaded>
      {edits && query.data && (
        <EditRules connection={connection} {...query.data.reply} onClose={() => setEdits(false)} />
      )}
    </Card>
  )
}
