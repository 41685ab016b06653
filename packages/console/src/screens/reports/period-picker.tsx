import { SegmentedControl, Select, TextInput } from '@mantine/core'
import { useAddress } from '../../components/address.ts'
import { reports as say } from '../../strings/reports.ts'
import { type Period, type PeriodPreset, presets } from './period.ts'

/** Where the screen says what is wrong with the days. */
export const errorId = 'error-of-days'

/** Which days a report covers, and whether it is by day or by month; both are in the address. */
export function PeriodPicker({
  period: { preset, startDate, endDate, by, fieldError },
  grouped,
}: {
  period: Period
  /** Asks for days or months. */
  grouped: boolean
}) {
  const { change } = useAddress()
  const pick = (next: PeriodPreset) =>
    // A custom period begins with the days that were shown.
    change(
      next === 'custom'
        ? { period: next, from: startDate, until: endDate }
        : { period: next === 'days' ? '' : next, from: '', until: '' },
    )
  return (
    <>
      <Select
        aria-label={say.period}
        data={presets.map((value) => ({ value, label: say.presets[value] }))}
        value={preset}
        onChange={(next) => next && pick(next as PeriodPreset)}
        allowDeselect={false}
        w={160}
      />
      {preset === 'custom' &&
        (
          [
            ['from', startDate],
            ['until', endDate],
          ] as const
        ).map(([name, day]) => (
          <TextInput
            key={name}
            type="date"
            aria-label={say[name]}
            value={day}
            error={fieldError?.of === name}
            {...(fieldError?.of === name ? { 'aria-describedby': errorId } : {})}
            onChange={({ currentTarget }) => change({ [name]: currentTarget.value }, { replace: true })}
            w={160}
          />
        ))}
      {grouped && (
        <SegmentedControl
          aria-label={say.by}
          data={[
            { value: 'day', label: say.byDay },
            { value: 'month', label: say.byMonth },
          ]}
          value={by}
          onChange={(next) => change({ by: next === 'month' ? next : '' })}
        />
      )}
    </>
  )
}
