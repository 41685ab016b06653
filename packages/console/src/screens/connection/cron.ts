/** The schedules that most people want, and the cron expressions that they are. */

export type CronPreset = 'hourly' | 'daily' | 'weekdays' | 'custom'
export type Times = {
  preset: CronPreset
  /** 0 to 59. */
  minute: number
  /** 0 to 23. */
  hour: number
  /** Used for `custom`. */
  cron: string
}

const twoDigits = (n: number) => String(n).padStart(2, '0')

/** The time of day as inputs have it: `06:05`. */
export const timeOf = ({ hour, minute }: Pick<Times, 'hour' | 'minute'>): string =>
  `${twoDigits(hour)}:${twoDigits(minute)}`

/** The cron expression that is meant. */
export function cronOf({ preset, minute, hour, cron }: Times): string {
  if (preset === 'hourly') return `${minute} * * * *`
  if (preset === 'daily') return `${minute} ${hour} * * *`
  if (preset === 'weekdays') return `${minute} ${hour} * * 1-5`
  return cron.trim()
}

/** Meaning of a cron expression. */
export function timesOf(cron: string): Times {
  const text = cron.trim().replace(/\s+/g, ' ')
  const [, minute = '0', hour = '6', week = '*'] = /^(\d{1,2}) (\d{1,2}|\*) \* \* (\*|1-5)$/.exec(text) ?? []
  const times = { minute: Number(minute), hour: hour === '*' ? 6 : Number(hour), cron: text }
  const preset: CronPreset = hour === '*' ? 'hourly' : week === '*' ? 'daily' : 'weekdays'
  // Expressions that no preset produces exactly are custom.
  return { ...times, preset: cronOf({ ...times, preset }) === text ? preset : 'custom' }
}
