import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Blackout } from '@penstock/wire'
import { blackoutEnd } from './blackouts.ts'

const endOf = (windows: Blackout['windows'], at: string, timezone = 'Europe/Berlin') =>
  blackoutEnd({ timezone, windows }, new Date(at))?.toISOString()

test('the end of a blackout is that of the windows that follow each other, in their time zone', () => {
  const office: Blackout['windows'] = [{ days: ['mon', 'tue', 'wed', 'thu', 'fri'], from: '08:00', to: '18:00' }]
  // 2026-11-26 is a Thursday.
  assert.equal(endOf(office, '2026-11-26T07:00:00Z'), '2026-11-26T17:00:00.000Z')
  assert.equal(endOf(office, '2026-11-26T16:59:59Z'), '2026-11-26T17:00:00.000Z')
  assert.equal(endOf(office, '2026-11-26T06:59:59Z'), undefined)
  assert.equal(endOf(office, '2026-11-26T17:00:00Z'), undefined)
  assert.equal(endOf(office, '2026-11-28T10:00:00Z'), undefined)
  const night: Blackout['windows'] = [{ days: ['fri'], from: '22:00', to: '06:00' }]
  assert.equal(endOf(night, '2026-11-28T01:00:00Z'), '2026-11-28T05:00:00.000Z')
  assert.equal(endOf(night, '2026-11-27T01:00:00Z'), undefined)
  const weekend: Blackout['windows'] = [{ days: ['sat', 'sun'], from: '00:00', to: '00:00' }]
  assert.equal(endOf([...night, ...weekend], '2026-11-27T21:30:00Z'), '2026-11-29T23:00:00.000Z')
  assert.equal(endOf(weekend, '2026-11-27T22:59:00Z'), undefined)
  // The clocks go forward at 01:00 UTC.
  assert.equal(
    endOf([{ days: ['sun'], from: '01:00', to: '04:00' }], '2026-03-29T00:30:00Z'),
    '2026-03-29T02:00:00.000Z',
  )
  const always: Blackout['windows'] = [
    { days: ['mon', 'tue', 'wed', 'thu', 'fri', 'sat', 'sun'], from: '00:00', to: '00:00' },
  ]
  assert(endOf(always, '2026-11-26T07:00:00Z', 'UTC'))
})
