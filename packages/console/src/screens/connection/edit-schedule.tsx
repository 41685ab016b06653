import { List, NumberInput, Select, Stack, Switch, Text, TextInput } from '@mantine/core'
import {
  type Connection,
  type ConnectionDetails,
  continuousSchedule,
  limits,
  receivesEvents,
  type Schedule,
} from '@penstock/wire'
import { useMemo, useState } from 'react'
import { useWrite } from '../../api/queries.ts'
import { FormDialog } from '../../components/form-dialog.tsx'
import { monoLine } from '../../components/mono.ts'
import { notifyProblem } from '../../components/notify.ts'
import { connection as say } from '../../strings/connection.ts'
import { connectionSet as saySet } from '../../strings/connection-set.ts'
import { callEach } from '../connections/call-each.ts'
import { type CronPreset, cronOf, cronPresets, nextRuns, type Times, timeOf, timesOf } from './cron.ts'
import { RowsComeAgain, useRepeats } from './rows-come-again.tsx'

const runsShown = 3
/** The browser's own. */
export const ownZone = Intl.DateTimeFormat().resolvedOptions().timeZone || 'UTC'

/** Sets the schedule of the connection: one of the usual ones, or a cron expression. */
export function EditSchedule({
  connection,
  schedule,
  set: of,
  onClose,
}: {
  connection: ConnectionDetails
  schedule: Schedule | undefined
  /** Connections that all get the schedule. */
  set?: { readonly name: string; readonly live: readonly Pick<Connection, 'id' | 'name'>[] }
  onClose: () => void
}) {
  const { accountId, id } = connection
  const set = useWrite('setSchedule')
  const [times, setTimes] = useState<Times>(timesOf(schedule?.cron ?? usualOf(connection)))
  const [timezone, setTimezone] = useState(schedule?.timezone ?? ownZone)
  const [enabled, setEnabled] = useState(schedule?.enabled ?? true)
  const zones = useMemo(() => zonesWith(timezone), [timezone])
  const repeats = useRepeats(connection)
  const isStream = receivesEvents(connection.src.connectorId)
  const presets = cronPresets.filter((preset) => preset !== 'continuous' || isStream)
  const change = (part: Partial<Times>) => setTimes((before) => ({ ...before, ...part }))
  const body = { cron: cronOf(times), timezone, enabled }
  const save = async () => {
    if (!of) {
      await set.mutateAsync({ accountId, id, body })
      return say.scheduleSaved
    }
    // The first one shows what is wrong with the schedule itself.
    const [first, ...rest] = of.live
    if (first) await set.mutateAsync({ accountId, id: first.id, body })
    const refusals = await callEach(rest, (one) => set.mutateAsync({ accountId, id: one.id, body }))
    if (refusals.length > 0) {
      const why = refusals.map(({ connection: { name }, why }) => `${name}: ${why}`).join(' ')
      notifyProblem(saySet.scheduleRefused(refusals.map(({ connection: { name } }) => name)), why)
    }
    return saySet.scheduleSaved(of.live.length - refusals.length)
  }
  return (
    <FormDialog title={of ? saySet.schedule(of.name) : say.schedule} onSubmit={save} onClose={onClose}>
      {(errorOf) => (
        <>
          {of && <Text size="sm">{saySet.scheduleHelp(of.live.length)}</Text>}
          <Select
            label={say.how}
            data={presets.map((preset) => ({ value: preset, label: say[preset] }))}
            value={times.preset}
            allowDeselect={false}
            data-autofocus
            onChange={(preset) => change({ preset: (preset ?? 'daily') as CronPreset, cron: cronOf(times) })}
          />
          <When times={times} fieldError={errorOf('cron')} onChange={change} />
          {times.preset !== 'continuous' && (
            <Select
              label={say.timezone}
              data={zones}
              value={timezone}
              searchable
              allowDeselect={false}
              limit={50}
              nothingFoundMessage={say.timezoneNone}
              error={errorOf('timezone')}
              onChange={(zone) => setTimezone(zone ?? timezone)}
            />
          )}
          {enabled && <NextRuns cron={cronOf(times)} timezone={timezone} />}
          <Switch
            label={say.scheduleEnabled}
            description={say.scheduleEnabledHelp}
            checked={enabled}
            onChange={({ currentTarget }) => setEnabled(currentTarget.checked)}
          />
          {enabled && repeats && <RowsComeAgain connection={connection} repeats={repeats} />}
        </>
      )}
    </FormDialog>
  )
}

/** The proposed schedule: events move as they come, and everything else each morning. */
const usualOf = ({ src }: ConnectionDetails): string =>
  receivesEvents(src.connectorId) ? continuousSchedule : '0 6 * * *'

/** When the schedule starts the next transfers, in its own time zone. */
function NextRuns({ cron, timezone }: { cron: string; timezone: string }) {
  const runs = nextRuns(cron, timezone, runsShown)
  if (runs.length === 0) return null
  const format = new Intl.DateTimeFormat(undefined, { dateStyle: 'full', timeStyle: 'short', timeZone: timezone })
  return (
    <Stack gap={4} role="status">
      <Text size="sm" fw={500}>
        {say.nextRuns}
      </Text>
      <List size="sm" c="dimmed">
        {runs.map((run) => (
          <List.Item key={run.getTime()}>{format.format(run)}</List.Item>
        ))}
      </List>
    </Stack>
  )
}

function When({
  times,
  fieldError,
  onChange,
}: {
  times: Times
  fieldError: string | undefined
  onChange: (part: Partial<Times>) => void
}) {
  if (times.preset === 'continuous' || times.preset.startsWith('minutes')) return null
  if (times.preset === 'hourly') {
    return (
      <NumberInput
        label={say.minute}
        value={times.minute}
        min={0}
        max={59}
        allowDecimal={false}
        error={fieldError}
        onChange={(minute) => onChange({ minute: Number(minute) || 0 })}
      />
    )
  }
  if (times.preset === 'custom') {
    return (
      <TextInput
        label={say.cron}
        description={say.cronHelp}
        value={times.cron}
        maxLength={limits.cronLengthMax}
        required
        error={fieldError}
        styles={monoLine}
        autoComplete="off"
        onChange={({ currentTarget }) => onChange({ cron: currentTarget.value })}
      />
    )
  }
  const time = (
    <TextInput
      type="time"
      label={say.at}
      value={timeOf(times)}
      required
      error={fieldError}
      onChange={({ currentTarget }) => {
        const [hour, minute] = currentTarget.value.split(':').map(Number)
        if (Number.isInteger(hour) && Number.isInteger(minute)) onChange({ hour: hour ?? 0, minute: minute ?? 0 })
      }}
    />
  )
  if (times.preset !== 'weekly') return time
  return (
    <>
      <Select
        label={say.weekday}
        data={say.weekdayNames.map((label, day) => ({ value: String(day), label }))}
        value={String(times.weekday)}
        allowDeselect={false}
        onChange={(day) => onChange({ weekday: Number(day ?? times.weekday) })}
      />
      {time}
    </>
  )
}

/**
 * All zones that the browser knows, after the current zone, which the browser may not know, and the most frequent ones.
 */
export const zonesWith = (set: string): string[] => [
  ...new Set([set, ownZone, 'UTC', ...Intl.supportedValuesOf('timeZone')]),
]
