import { limits } from '@penstock/wire'
import { useAddress } from '../../components/address.ts'
import { dayAfter, dayOf, daysBetween } from '../../components/days.ts'
import { reports as say } from '../../strings/reports.ts'

export const presets = ['week', 'days', 'quarter', 'month', 'lastMonth', 'custom'] as const
export type PeriodPreset = (typeof presets)[number]
const presetDefault: PeriodPreset = 'days'

export type Period = {
  preset: PeriodPreset
  startDate: string
  endDate: string
  by: 'day' | 'month'
  /** Error of a custom period. */
  fieldError: { of: 'from' | 'until'; message: string } | undefined
}

/** The days that the address names. */
export function usePeriod(): Period {
  const { value } = useAddress()
  const today = dayOf(Date.now())
  const preset = presets.find((one) => one === value('period')) ?? presetDefault
  const [startDate, endDate] = preset === 'custom' ? [value('from'), value('until')] : daysOf(preset, today)
  const by = value('by') === 'month' ? 'month' : 'day'
  return { preset, startDate, endDate, by, fieldError: errorOf(startDate, endDate) }
}

function daysOf(preset: Exclude<PeriodPreset, 'custom'>, today: string): [string, string] {
  const firstOfMonth = `${today.slice(0, 7)}-01`
  const lastOfPrevious = dayAfter(firstOfMonth, -1)
  switch (preset) {
    case 'week':
      return [dayAfter(today, -6), today]
    case 'days':
      return [dayAfter(today, -29), today]
    case 'quarter':
      return [dayAfter(today, -89), today]
    case 'month':
      return [firstOfMonth, today]
    case 'lastMonth':
      return [`${lastOfPrevious.slice(0, 7)}-01`, lastOfPrevious]
  }
}

function errorOf(from: string, until: string): Period['fieldError'] {
  if (!isDay(from)) return { of: 'from', message: say.notADay }
  if (!isDay(until)) return { of: 'until', message: say.notADay }
  const days = daysBetween(from, until)
  if (days < 1) return { of: 'until', message: say.backwards }
  if (days > limits.reportDaysMax) return { of: 'until', message: say.tooLong(limits.reportDaysMax) }
  return undefined
}

function isDay(text: string): boolean {
  return /^\d{4}-\d{2}-\d{2}$/.test(text) && !Number.isNaN(Date.parse(text)) && dayOf(Date.parse(text)) === text
}
