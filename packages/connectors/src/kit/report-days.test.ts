import assert from 'node:assert/strict'
import { test } from 'node:test'
import { addDays, beginOfDay, daysFrom, eachDay, isoIn } from './report-days.ts'

test('counts days over months and years', () => {
  assert.equal(addDays('2024-02-28', 1), '2024-02-29')
  assert.equal(addDays('2026-01-01', -1), '2025-12-31')
  assert.equal(daysFrom('2026-03-01', '2026-03-31'), 31)
  assert.deepEqual(eachDay('2026-02-27', '2026-03-01'), ['2026-02-27', '2026-02-28', '2026-03-01'])
})

test('begins a day at midnight by the clocks of that day', () => {
  const cases: [day: string, zone: string, begins: string][] = [
    ['2026-03-29', 'Europe/Berlin', '2026-03-29T00:00:00.000+01:00'],
    ['2026-03-30', 'Europe/Berlin', '2026-03-30T00:00:00.000+02:00'],
    ['2026-10-25', 'Europe/Berlin', '2026-10-25T00:00:00.000+02:00'],
    ['2026-10-26', 'Europe/Berlin', '2026-10-26T00:00:00.000+01:00'],
    ['2026-03-08', 'America/Los_Angeles', '2026-03-08T00:00:00.000-08:00'],
    ['2026-03-09', 'America/Los_Angeles', '2026-03-09T00:00:00.000-07:00'],
    ['2026-04-05', 'Pacific/Auckland', '2026-04-05T00:00:00.000+13:00'],
    ['2026-04-06', 'Pacific/Auckland', '2026-04-06T00:00:00.000+12:00'],
    ['2026-06-01', 'Asia/Kolkata', '2026-06-01T00:00:00.000+05:30'],
    ['2026-06-01', 'UTC', '2026-06-01T00:00:00.000+00:00'],
    // The clocks skip midnight: the day begins at one.
    ['2024-09-08', 'America/Santiago', '2024-09-08T01:00:00.000-03:00'],
    // At midnight they go back to eleven, so that this day begins an hour later.
    ['2024-04-07', 'America/Santiago', '2024-04-07T00:00:00.000-04:00'],
    // Midnight comes twice, and the day begins with the first.
    ['2024-11-03', 'America/Havana', '2024-11-03T00:00:00.000-04:00'],
  ]
  for (const [day, zone, begins] of cases) assert.equal(isoIn(zone, beginOfDay(day, zone)), begins)
})
