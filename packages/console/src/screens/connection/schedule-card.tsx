import { Alert, Badge, Group, SimpleGrid, Stack, Text } from '@mantine/core'
import { type ConnectionDetails, continuousSchedule, mayTransfer, type Schedule } from '@penstock/wire'
import { IconCalendarOff, IconCalendarTime } from '@tabler/icons-react'
import { useForbidden } from '../../api/me.ts'
import { useReadIfAny } from '../../api/queries.ts'
import { ConfirmWrite } from '../../components/confirm.tsx'
import { useDialog } from '../../components/form-dialog.tsx'
import { Loaded } from '../../components/loaded.tsx'
import { ReasonedButton } from '../../components/reasoned.tsx'
import { Fact, Section } from '../../components/section.tsx'
import { Time } from '../../components/time.tsx'
import { connection as say } from '../../strings/connection.ts'
import { standing as words } from '../../strings/standing.ts'
import { timeOf, timesOf } from './cron.ts'
import { EditSchedule } from './edit-schedule.tsx'
import { RunConditionsPart } from './run-conditions.tsx'

/** The schedule of the connection. */
export function ScheduleCard({ connection, reason }: { connection: ConnectionDetails; reason: string | undefined }) {
  const { accountId, id } = connection
  const query = useReadIfAny('getSchedule', { accountId, id }, { againAfterMs: 30_000 })
  const [dialog, open] = useDialog()
  const forbidden = useForbidden('setSchedule')
  const whyNot = forbidden ?? reason
  const schedule = query.data?.reply
  const edit = () => open((close) => <EditSchedule connection={connection} schedule={schedule} onClose={close} />)
  const remove = () =>
    open((close) => (
      <ConfirmWrite
        title={say.deleteScheduleTitle}
        action={say.deleteScheduleFull}
        operation="deleteSchedule"
        parameters={{ accountId, id }}
        done={say.scheduleDeleted}
        onClose={close}
      >
        {say.deleteScheduleHelp}
      </ConfirmWrite>
    ))
  return (
    <Section title={say.schedule} fill>
      {query.data === null ? (
        <Stack align="flex-start" gap="sm">
          <Group gap="xs">
            <IconCalendarOff size={20} aria-hidden />
            <Text fw={600}>{say.scheduleNone}</Text>
          </Group>
          <Text size="sm" c="dimmed">
            {say.scheduleNoneHelp}
          </Text>
          <ReasonedButton variant="default" reason={whyNot} onClick={edit}>
            {say.setSchedule}
          </ReasonedButton>
        </Stack>
      ) : (
        <Loaded query={query} lines={3} quiet>
          {(schedule) => (
            <Stack gap="md">
              {schedule && <ScheduleFacts schedule={schedule.reply} />}
              {!mayTransfer(connection.status) && (
                <Alert color="gray" variant="light" p="xs" fz="sm">
                  {say.scheduleIdle(words.connection[connection.status])}
                </Alert>
              )}
              <Group gap="sm">
                <ReasonedButton
                  variant="default"
                  size="sm"
                  reason={whyNot}
                  aria-label={say.changeScheduleFull}
                  onClick={edit}
                >
                  {say.changeSchedule}
                </ReasonedButton>
                <ReasonedButton
                  variant="subtle"
                  size="sm"
                  color="red"
                  reason={forbidden}
                  aria-label={say.deleteScheduleFull}
                  onClick={remove}
                >
                  {say.deleteSchedule}
                </ReasonedButton>
              </Group>
            </Stack>
          )}
        </Loaded>
      )}
      <RunConditionsPart connection={connection} reason={reason} />
      {dialog}
    </Section>
  )
}

/** A schedule in words: `Monday to Friday at 06:00`. */
export function wordsOfCron(cron: string): string {
  const times = timesOf(cron)
  if (times.preset === 'hourly') return say.everyHourAt(String(times.minute).padStart(2, '0'))
  if (times.preset === 'daily') return say.everyDayAt(timeOf(times))
  if (times.preset === 'weekdays') return say.weekdaysAt(timeOf(times))
  if (times.preset === 'weekly') return say.weeklyAt(say.weekdayNames[times.weekday] ?? '', timeOf(times))
  if (times.preset !== 'custom') return say[times.preset]
  return say.byCron(times.cron)
}

function ScheduleFacts({ schedule }: { schedule: Schedule }) {
  const { cron, timezone, enabled, nextTime, lastTime } = schedule
  return (
    <>
      <Group gap="sm" wrap="nowrap" align="flex-start">
        <IconCalendarTime size={22} aria-hidden style={{ flex: 'none' }} />
        <div>
          <Group gap="xs">
            <Text fw={600}>{wordsOfCron(cron)}</Text>
            {!enabled && (
              <Badge color="gray" variant="default">
                {say.scheduleOff}
              </Badge>
            )}
          </Group>
          {cron !== continuousSchedule && (
            <Text size="sm" c="dimmed">
              {timezone} ·{' '}
              <Text span inherit ff="monospace">
                {cron}
              </Text>
            </Text>
          )}
        </div>
      </Group>
      <SimpleGrid cols={2} spacing="md">
        <Fact label={say.nextTransfer}>
          {cron === continuousSchedule ? say.asEventsArrive : <Time seconds={nextTime} planned />}
        </Fact>
        <Fact label={say.lastTransfer}>
          <Time seconds={lastTime} />
        </Fact>
      </SimpleGrid>
    </>
  )
}
