import { continuousSchedule } from '@penstock/wire'
import { Cron } from 'croner'

/** The schedules that most people want, the cron expressions that they are, and when they run. */

export const cronPresets = [
  'continuous',
  'minutes5',
  'minutes15',
  'minutes30',
  'hourly',
  'daily',
  'weekdays',
  'weekly',
  'custom',
] as const
export type CronPreset = (typeof cronPresets)[number]
export type Times = {
  preset: CronPreset
  /** 0 to 59. */
  minute: number
  /** 0 to 23. */
  hour: number
  /** 0 to 6, Sunday is 0; used for `weekly`. */
  weekday: number
  /** Used for `custom`. */
  cron: string
}

const twoDigits = (n: number) => String(n).padStart(2, '0')

/** The time of day as inputs have it: `06:05`. */
export const timeOf = ({ hour, minute }: Pick<Times, 'hour' | 'minute'>): string =>
  `${twoDigits(hour)}:${twoDigits(minute)}`

/** The cron expression that is meant. */
export function cronOf({ preset, minute, hour, weekday, cron }: Times): string {
  switch (preset) {
    case 'continuous':
      return continuousSchedule
    case 'minutes5':
    case 'minutes15':
    case 'minutes30':
      return `*/${preset.slice('minutes'.length)} * * * *`
    case 'hourly':
      return `${minute} * * * *`
    case 'daily':
      return `${minute} ${hour} * * *`
    case 'weekdays':
      return `${minute} ${hour} * * 1-5`
    case 'weekly':
      return `${minute} ${hour} * * ${weekday}`
    case 'custom':
      return cron.trim()
  }
}

/** Meaning of a cron expression. Expressions that no preset produces exactly are custom. */
export function timesOf(cron: string): Times {
  const text = cron.trim().replace(/\s+/g, ' ')
  const [, minute = '0', hour = '6', week = '*'] = /^(\d{1,2}) (\d{1,2}|\*) \* \* (\*|1-5|[0-6])$/.exec(text) ?? []
  const times: Omit<Times, 'preset'> = {
    minute: Number(minute),
    hour: hour === '*' ? 6 : Number(hour),
    weekday: /^\d$/.test(week) ? Number(week) : 1,
    cron: text,
  }
  const preset = cronPresets.find((one) => one !== 'custom' && cronOf({ ...times, preset: one }) === text)
  return { ...times, preset: preset ?? 'custom' }
}

/** The next runs, by the rules of the service; none if the expression or the time zone is invalid. */
export function nextRuns(cron: string, timezone: string, count: number): Date[] {
  try {
    return new Cron(cron, { timezone, mode: '5-part' }).nextRuns(count)
  } catch {
    return []
  }
}
