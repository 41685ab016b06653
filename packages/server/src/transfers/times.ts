import type { FieldError } from '@penstock/wire'
import { Cron } from 'croner'

/** Times of schedules and blackouts. */

/**
 * The next time after another one that a schedule means; undefined if there is none.
 * @throws where cron or time zone cannot be read
 */
export function nextRun(cron: string, timezone: string, after: Date): Date | undefined {
  return new Cron(cron, { timezone, mode: '5-part' }).nextRun(after) ?? undefined
}

/** The error of a text that is no time zone. */
export function timezoneErrors(timezone: string, field: string): FieldError[] {
  try {
    new Intl.DateTimeFormat('en', { timeZone: timezone })
    return []
  } catch {
    return [{ field, message: 'must be the IANA name of a time zone, such as Europe/Berlin' }]
  }
}
