import assert from 'node:assert/strict'
import { test } from 'node:test'
import { sumOf, volumesIn } from './volumes.ts'

const volume = (time: number) => ({ time, accepted: 5, duplicates: 1, refused: 2 })

test('every minute of the hour and every hour of the days has a bar, up to now', () => {
  const now = 1_000_000_000
  const minute = Math.floor(now / 60) * 60
  const hour = Math.floor(now / 3_600) * 3_600
  const volumes = {
    minutes: [volume(minute - 59 * 60), volume(minute)],
    hours: [volume(hour - 100 * 3_600), volume(hour)],
  }
  const bars = volumesIn(volumes, 'hour', now)
  assert.deepEqual(
    [bars.length, bars[0], bars[1]?.accepted, bars.at(-1)],
    [60, volume(minute - 59 * 60), 0, volume(minute)],
  )
  assert.deepEqual(sumOf(bars), { accepted: 10, duplicates: 2, refused: 4 })
  assert.deepEqual([volumesIn(volumes, 'day', now).length, sumOf(volumesIn(volumes, 'day', now)).accepted], [24, 5])
  assert.deepEqual([volumesIn(volumes, 'week', now).length, sumOf(volumesIn(volumes, 'week', now)).accepted], [168, 10])
})

test('a service whose clock is ahead still has its newest minute at the end', () => {
  const bars = volumesIn({ minutes: [volume(1_000_000_020)], hours: [] }, 'hour', 999_999_960)
  assert.deepEqual(bars.at(-1), volume(1_000_000_020))
})
