import { Text } from '@mantine/core'
import { useSyncExternalStore } from 'react'
import { components as sayComponents } from '../strings/components.ts'

/**
 * Times are shown in the reader's own zone, relative if they are near, and exact on hover. A list has many of them: the
 * browser's own tooltip costs nothing. A past time is never shown as a future one, even if the clock of the service is
 * ahead of the browser's.
 */

const exact = new Intl.DateTimeFormat(undefined, { dateStyle: 'full', timeStyle: 'long' })
const day = new Intl.DateTimeFormat(undefined, { dateStyle: 'medium' })
const relative = new Intl.RelativeTimeFormat(undefined, { numeric: 'auto', style: 'long' })
const units = [
  ['day', 86_400],
  ['hour', 3_600],
  ['minute', 60],
  ['second', 1],
] as const
const nearSeconds = 7 * 86_400
const tickMs = 10_000
const justNowSeconds = 5

/**
 * @param seconds since 1970; null if it has not happened
 * @param planned it may lie in the future, as the next transfer of a schedule does
 */
export function Time({ seconds, planned = false }: { seconds: number | null | undefined; planned?: boolean }) {
  const now = useNow()
  if (!seconds)
    return (
      <Text span inherit c="dimmed">
        {sayComponents.never}
      </Text>
    )
  const at = new Date(seconds * 1000)
  return (
    <time dateTime={at.toISOString()} title={exact.format(at)} style={{ whiteSpace: 'nowrap' }}>
      {inWords(at, seconds - now / 1000, planned)}
    </time>
  )
}

/** @param distance in seconds from now; negative for the past */
function inWords(at: Date, distance: number, planned: boolean): string {
  // Between two ticks of the page's own clock, what has just happened is ahead of it, too.
  if (!planned && distance > -justNowSeconds) return sayComponents.justNow
  if (Math.abs(distance) >= nearSeconds) return day.format(at)
  const [unit, length] = units.find(([, length]) => Math.abs(distance) >= length) ?? ['second', 1]
  return relative.format(Math.trunc(distance / length), unit)
}

let now = Date.now()
const listeners = new Set<() => void>()
let timer: ReturnType<typeof setInterval> | undefined

/** The present time in milliseconds, which moves every few seconds; one clock for the whole page. */
export function useNow(): number {
  return useSyncExternalStore(subscribe, () => now)
}

function subscribe(listener: () => void): () => void {
  listeners.add(listener)
  now = Math.max(now, Date.now() - tickMs)
  timer ??= setInterval(() => {
    now = Date.now()
    for (const one of listeners) one()
  }, tickMs)
  return () => {
    listeners.delete(listener)
    if (listeners.size > 0) return
    clearInterval(timer)
    timer = undefined
  }
}

/** How long something took, as people say it: `1 min 35 s`. @param seconds 0 or more */
export function duration(seconds: number): string {
  const whole = Math.round(seconds)
  const components = [
    [Math.floor(whole / 3600), 'h'],
    [Math.floor((whole % 3600) / 60), 'min'],
    [whole % 60, 's'],
  ] as const
  const shown = components.filter(([n]) => n > 0).slice(0, 2)
  return shown.length > 0 ? shown.map(([n, unit]) => `${n} ${unit}`).join(' ') : '0 s'
}
