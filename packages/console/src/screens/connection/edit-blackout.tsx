import { ActionIcon, Button, Chip, Group, Select, Stack, Text, TextInput } from '@mantine/core'
import { type Blackout, limits, type Weekday, weekdays } from '@penstock/wire'
import { IconPlus, IconTrash } from '@tabler/icons-react'
import { useMemo } from 'react'
import { connection as sayConnection } from '../../strings/connection.ts'
import { connectionRules as say } from '../../strings/connection-rules.ts'
import { ownZone, zonesWith } from './edit-schedule.tsx'

type Window = Blackout['windows'][number]

const usual: Window = { days: ['mon', 'tue', 'wed', 'thu', 'fri'], from: '08:00', to: '18:00' }

/** The weekly windows in which no transfer starts. */
export function EditBlackout({
  blackout,
  error,
  onChange,
}: {
  blackout: Blackout | null
  error: string | undefined
  onChange: (blackout: Blackout | null) => void
}) {
  const timezone = blackout?.timezone ?? ownZone
  const windows = blackout?.windows ?? []
  const zones = useMemo(() => zonesWith(timezone), [timezone])
  const change = (changed: Window[]) => onChange(changed.length === 0 ? null : { timezone, windows: changed })
  return (
    <Stack component="fieldset" gap="sm" m={0} p={0} bd={0} aria-label={say.blackout}>
      <div>
        <Text fw={600} size="sm">
          {say.blackout}
        </Text>
        <Text size="sm" c="dimmed">
          {say.blackoutHelp}
        </Text>
      </div>
      {windows.length > 0 && (
        <Select
          label={sayConnection.timezone}
          data={zones}
          value={timezone}
          searchable
          allowDeselect={false}
          limit={50}
          nothingFoundMessage={sayConnection.timezoneNone}
          error={error}
          onChange={(zone) => onChange({ timezone: zone ?? timezone, windows })}
        />
      )}
      {windows.map((window, place) => (
        <WindowFields
          // biome-ignore lint/suspicious/noArrayIndexKey: a window has no other identity, and its fields hold no state
          key={place}
          number={place + 1}
          window={window}
          onChange={(changed) => change(windows.with(place, changed))}
          onRemove={() => change(windows.toSpliced(place, 1))}
        />
      ))}
      <Group>
        <Button
          variant="default"
          leftSection={<IconPlus size={16} aria-hidden />}
          disabled={windows.length >= limits.blackoutWindowsMax}
          onClick={() => change([...windows, usual])}
        >
          {say.addWindow}
        </Button>
      </Group>
    </Stack>
  )
}

function WindowFields({
  number,
  window: { days, from, to },
  onChange,
  onRemove,
}: {
  number: number
  window: Window
  onChange: (window: Window) => void
  onRemove: () => void
}) {
  return (
    <Stack component="fieldset" gap="xs" m={0} p={0} bd={0} aria-label={say.window(number)}>
      <Chip.Group
        multiple
        value={days}
        onChange={(chosen) => chosen.length > 0 && onChange({ days: ordered(chosen), from, to })}
      >
        <Group gap="xs">
          {weekdays.map((day) => (
            <Chip key={day} value={day} size="xs">
              {say.days[day]}
            </Chip>
          ))}
        </Group>
      </Chip.Group>
      <Group align="end" gap="sm">
        <TextInput
          type="time"
          label={say.from}
          value={from}
          required
          onChange={({ currentTarget }) => onChange({ days, from: currentTarget.value, to })}
        />
        <TextInput
          type="time"
          label={say.to}
          value={to}
          required
          onChange={({ currentTarget }) => onChange({ days, from, to: currentTarget.value })}
        />
        <ActionIcon variant="subtle" color="gray" aria-label={say.removeWindow(number)} onClick={onRemove}>
          <IconTrash size={18} aria-hidden />
        </ActionIcon>
      </Group>
    </Stack>
  )
}

const ordered = (chosen: readonly string[]): Weekday[] => weekdays.filter((day) => chosen.includes(day))
