import { SimpleGrid, Stack, Text } from '@mantine/core'
import { type ConnectionDetails, limits } from '@penstock/wire'
import { useForbidden } from '../../../api/me.ts'
import { useRead } from '../../../api/queries.ts'
import { DialogButton } from '../../../components/form-dialog.tsx'
import { Loaded } from '../../../components/loaded.tsx'
import { Section } from '../../../components/section.tsx'
import { newConnection as say } from '../../../strings/new-connection.ts'
import { channelsOf, conditionsOf } from '../../alerts/rules.tsx'
import { SaveRule } from '../../alerts/save-rule.tsx'
import { UnsentRules } from '../../alerts/unsent.tsx'
import { RulesCard } from '../../connection/rules-card.tsx'
import { ScheduleCard } from '../../connection/schedule-card.tsx'
import { useReasons } from '../../connection/use-connection.ts'

/** When the connection runs, which rules judge its transfers, and who hears of a failure: all before it is activated. */
export function WhenItRuns({ connection }: { connection: ConnectionDetails }) {
  const { edit } = useReasons(connection, undefined)
  return (
    <SimpleGrid cols={{ base: 1, lg: 3 }} spacing="lg">
      <ScheduleCard connection={connection} reason={edit} />
      <RulesCard connection={connection} reason={edit} />
      {!useForbidden('listAlertRules') && <Alerts connection={connection} />}
    </SimpleGrid>
  )
}

/** The alert rules that watch the connection. */
function Alerts({ connection }: { connection: ConnectionDetails }) {
  const { accountId, id } = connection
  // The rules of the organization too, which watch every sub-account.
  const query = useRead('listAlertRules', { query: { size: limits.pageSizeMax } })
  const forbidden = useForbidden('createAlertRule')
  const add = (
    <DialogButton
      size="xs"
      reason={forbidden}
      dialog={(close) => <SaveRule accountId={accountId} connection={connection} onClose={close} />}
    >
      {say.addAlert}
    </DialogButton>
  )
  return (
    <Section title={say.alerts} help={say.alertsHelp} action={add}>
      <Loaded query={query} lines={2} quiet>
        {({ reply }) => {
          const watching = reply.filter(
            (rule) =>
              rule.enabled && [null, accountId].includes(rule.accountId) && (rule.connectionIds?.includes(id) ?? true),
          )
          return (
            <Stack gap="sm">
              {watching.length === 0 && <Text size="sm">{say.noAlerts}</Text>}
              {watching.map((rule) => (
                <div key={rule.id}>
                  <Text size="sm" style={{ overflowWrap: 'anywhere' }}>
                    {rule.name}
                  </Text>
                  <Text size="xs" c="dimmed" style={{ overflowWrap: 'anywhere' }}>
                    {say.alertRule(conditionsOf(rule), channelsOf(rule))}
                  </Text>
                </div>
              ))}
              <UnsentRules rules={watching} />
            </Stack>
          )
        }}
      </Loaded>
    </Section>
  )
}
