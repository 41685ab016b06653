import { Badge, List, Stack, Text } from '@mantine/core'
import type { ConnectionDetails } from '@penstock/wire'
import { IconPencil } from '@tabler/icons-react'
import { useForbidden } from '../../api/me.ts'
import { useRead } from '../../api/queries.ts'
import { DialogButton } from '../../components/form-dialog.tsx'
import { Loaded } from '../../components/loaded.tsx'
import { Section } from '../../components/section.tsx'
import { connectionRules as say } from '../../strings/connection-rules.ts'
import { EditRules } from './edit-rules.tsx'

/** The rules that judge each transfer of the connection. */
export function RulesCard({ connection, reason }: { connection: ConnectionDetails; reason: string | undefined }) {
  const { accountId, id } = connection
  const query = useRead('getConnectionRules', { accountId, id })
  const whyNot = useForbidden('setConnectionRules') ?? reason
  const edit = (
    <DialogButton
      size="xs"
      leftSection={<IconPencil size={16} aria-hidden />}
      reason={whyNot}
      dialog={(close) => query.data && <EditRules connection={connection} {...query.data.reply} onClose={close} />}
    >
      {say.edit}
    </DialogButton>
  )
  return (
    <Section title={say.title} help={say.help} action={edit}>
      <Loaded query={query} lines={2} quiet>
        {({ reply: { rules, blackout } }) => (
          <Stack gap="sm">
            {rules.length === 0 && <Text size="sm">{say.none}</Text>}
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
    </Section>
  )
}
