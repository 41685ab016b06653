import type { BatchRow } from './batch-rows.ts'
import { type Read, readTime, secondsMs } from './events.ts'

/**
 * A time in milliseconds since 1970, from seconds or milliseconds since then, or from ISO 8601 with its zone.
 * @param daysMax how old the platform lets it be; absent for no bound
 */
export const readTimeMs = (row: BatchRow, column: string, daysMax: number | undefined): Read<number> =>
  readTime(row, column, daysMax, { numberMs, numbers: 'seconds or milliseconds' })

const numberMs = (text: string): number | undefined => (/^\d{12,13}$/.test(text) ? Number(text) : secondsMs(text))
