import { SetSchedule } from '@penstock/wire'
import { persistently } from '../../calls.ts'
import { ChangedMeanwhile, isRefused } from '../../failures.ts'
import { object, of } from '../../schema-parts.ts'
import { deleteOnce } from '../../writes.ts'
import type { Attribute } from './attribute.ts'

type File = { schedule?: { cron: string; timezone?: string; enabled?: boolean } }
type Schedule = { readonly cron: string; readonly timezone: string; readonly enabled: boolean }

const keys = ['cron', 'timezone', 'enabled'] as const

/** When transfers start. A file without a schedule removes it. */
export const schedule: Attribute<File, { readonly schedule: Schedule | undefined }> = {
  schema: {
    schedule: object(
      ['cron'],
      {
        cron: of(SetSchedule, 'cron'),
        timezone: { ...of(SetSchedule, 'timezone'), default: 'UTC' },
        enabled: { ...of(SetSchedule, 'enabled'), default: true },
      },
      'When transfers start automatically. Omitted: never',
    ),
  },
  parse({ schedule }) {
    const { cron, timezone = 'UTC', enabled = true } = schedule ?? {}
    return { schedule: cron === undefined ? undefined : { cron: cron.trim(), timezone, enabled } }
  },
  write({ schedule: stored }) {
    return stored ? { schedule: { cron: stored.cron, timezone: stored.timezone, enabled: stored.enabled } } : {}
  },
  compare({ schedule: wanted }, existing) {
    const stored = existing?.schedule
    if (!wanted) return stored ? [{ field: 'schedule', from: `${stored.cron} ${stored.timezone}` }] : []
    return keys
      .filter((key) => wanted[key] !== stored?.[key])
      .map((key) => ({ field: `schedule.${key}`, ...(stored ? { from: stored[key] } : {}), to: wanted[key] }))
  },
  async set(at, { schedule: wanted }, existing, { client }) {
    if (existing) {
      const now = await persistently(() => client.getSchedule(at)).then(
        ({ reply }) => reply,
        (error) => {
          if (isRefused(error, 'not_found')) return undefined
          throw error
        },
      )
      const others = keys.filter((key) => existing.schedule?.[key] !== now?.[key])
      const isWanted = wanted && now && others.every((key) => now[key] === wanted[key])
      if (others.length > 0 && !isWanted)
        throw new ChangedMeanwhile(others.map((key) => ({ field: `schedule.${key}` })))
    }
    if (wanted) await persistently(() => client.setSchedule({ ...at, body: wanted }))
    else await deleteOnce(() => client.deleteSchedule(at), 'not_found')
  },
}
