import assert from 'node:assert/strict'
import { test } from 'node:test'
import { cronOf, cronPresets, nextRuns, timesOf } from './cron.ts'

test('each preset is read back from its cron expression', () => {
  for (const preset of cronPresets) {
    const times = { preset, minute: 5, hour: 7, weekday: 2, cron: '0 6 1 * *' }
    const read = timesOf(cronOf(times))
    assert.equal(read.preset, preset)
    assert.equal(cronOf(read), cronOf(times))
  }
  assert.equal(timesOf('*/7 * * * *').preset, 'custom')
})

test('the next runs are in the time zone of the schedule, and an invalid expression has none', () => {
  const runs = nextRuns('30 7 * * 1-5', 'Asia/Tokyo', 3)
  assert.equal(runs.length, 3)
  for (const run of runs) assert.match(run.toISOString(), /T22:30:00/)
  assert.deepEqual(nextRuns('0 25 * * *', 'UTC', 3), [])
  assert.deepEqual(nextRuns('0 6 * * *', 'Nowhere/City', 3), [])
})
