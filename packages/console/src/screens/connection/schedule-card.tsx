import { Alert, Badge, Card, Group, SimpleGrid, Stack, Text, Title } from '@mantine/core'
import { PenstockError } from '@penstock/client'
import { type ConnectionDetails, mayTransfer, type Schedule } from '@penstock/wire'
import { IconCalendarOff, IconCalendarTime } from '@tabler/icons-react'
import { useState } from 'react'
import { useForbidden } from '../../api/me.ts'
import { useRead, useWrite } from '../../api/queries.ts'
import { Confirm } from '../../components/confirm.tsx'
import { Loaded } from '../../components/loaded.tsx'
import { notifyDone } from '../../components/notify.ts'
import { ReasonedButton } from '../../components/reasoned.tsx'
import { Time } from '../../components/time.tsx'
import { components } from '../../strings/components.ts'
import { connection as say } from '../../strings/connection.ts'
import { timeOf, timesOf } from './cron.ts'
import { EditSchedule } from './edit-schedule.tsx'
import { RunConditionsPart } from './run-conditions.tsx'

const isNone = (error: unknown) => error instanceof PenstockError && error.code === 'not_found'

/** The schedule of the connection. */
export function ScheduleCard({ connection, reason }: { connection: ConnectionDetails; reason: string | undefined }) {
  const { accountId, id } = connection
  const query = useRead('getSchedule', { accountId, id }, { againAfterMs: 30_000 })
  const [doing, setDoing] = useState<'edit' | 'delete'>()
  const remove = useWrite('deleteSchedule')
  const forbidden = useForbidden('setSchedule')
  const whyNot = forbidden ?? reason
  const none = isNone(query.error)
  const schedule = none ? undefined : query.data?.reply
  return (
    <Card withBorder padding="lg" h="100%">
      <Title order={2} size="h4" mb="md">
        {say.schedule}
      </Title>
      {none ? (
        <Stack align="flex-start" gap="sm">
          <Group gap="xs">
            <IconCalendarOff size={20} aria-hidden />
            <Text fw={600}>{say.scheduleNone}</Text>
          </Group>
          <Text size="sm" c="dimmed">
            {say.scheduleNoneHelp}
          </Text>
          <ReasonedButton variant="default" reason={whyNot} onClick={() => setDoing('edit')}>
            {say.setSchedule}
          </ReasonedButton>
        </Stack>
      ) : (
        <Loaded query={query} lines={3} quiet>
          {({ reply }) => (
            <Stack gap="md">
              <ScheduleFacts schedule={reply} />
              {!mayTransfer(connection.status) && (
                <Alert color="gray" variant="light" p="xs" fz="sm">
                  {say.scheduleIdle(components.status[connection.status])}
                </Alert>
              )}
              <Group gap="sm">
                <ReasonedButton
                  variant="default"
                  size="sm"
                  reason={whyNot}
                  aria-label={say.changeScheduleFull}
                  onClick={() => setDoing('edit')}
                >
                  {say.changeSchedule}
                </ReasonedButton>
                <ReasonedButton
                  variant="subtle"
                  size="sm"
                  color="red"
                  reason={forbidden}
                  aria-label={say.deleteScheduleFull}
                  onClick={() => setDoing('delete')}
                >
                  {say.deleteSchedule}
                </ReasonedButton>
              </Group>
            </Stack>
          )}
        </Loaded>
      )}
      <RunConditionsPart connection={connection} reason={reason} />
      {doing === 'edit' && (
        <EditSchedule connection={connection} schedule={schedule} onClose={() => setDoing(undefined)} />
      )}
      {doing === 'delete' && (
        <Confirm
          title={say.deleteScheduleTitle}
          action={say.deleteScheduleFull}
          onClose={() => setDoing(undefined)}
          onConfirm={async () => {
            await remove.mutateAsync({ accountId, id })
            notifyDone(say.scheduleDeleted)
          }}
        >
          {say.deleteScheduleHelp}
        </Confirm>
      )}
    </Card>
  )
}

/** A schedule in words: `Monday to Friday at 06:00`. */
export function wordsOfCron(cron: string): string {
  const times = timesOf(cron)
  if (times.preset === 'hourly') return say.everyHourAt(String(times.minute).padStart(2, '0'))
  if (times.preset === 'daily') return say.everyDayAt(timeOf(times))
  if (times.preset === 'weekdays') return say.weekdaysAt(timeOf(times))
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
          <Text size="sm" c="dimmed">
            {timezone} ·{' '}
            <Text span inherit ff="monospace">
              {cron}
            </Text>
          </Text>
        </div>
      </Group>
      <SimpleGrid cols={2} spacing="md">
        <div>
          <Text size="xs" c="dimmed">
            {say.nextTransfer}
          </Text>
          <Text size="sm" component="div">
            <Time seconds={nextTime} planned />
          </Text>
        </div>
        <div>
          <Text size="xs" c="dimmed">
            {say.lastTransfer}
          </Text>
          <Text size="sm" component="div">
            <Time seconds={lastTime} />
          </Text>
        </div>
      </SimpleGrid>
    </>
  )
}
