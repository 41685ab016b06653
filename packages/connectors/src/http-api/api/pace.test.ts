import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { createPacer } from './pace.ts'

/** A clock that is set forward by waiting. */
const clockOf = () => {
  let nowMs = 1_000
  const pass = (ms: number) => {
    nowMs += ms
  }
  return { nowMs: () => nowMs, pass, wait: async (waitMs: number) => pass(waitMs) }
}

describe('the pace of a definition', () => {
  test('begins so many requests in any span, in their order', async () => {
    const clock = clockOf()
    const pacer = createPacer({ requests: 2, seconds: 1 }, clock)
    const begun: number[] = []
    await Promise.all([1, 2, 3, 4, 5].map(() => pacer.begin().then(() => begun.push(clock.nowMs()))))
    assert.deepEqual(begun, [1_000, 1_000, 2_000, 2_000, 3_000])
    clock.pass(5_000)
    await pacer.begin()
    assert.equal(clock.nowMs(), 8_000)
  })

  test('waits if no request is left, as long as the answer says', async () => {
    const clock = clockOf()
    const pacer = createPacer({ requests: 100, seconds: 10, remaining: 'x-left' }, clock)
    pacer.answered({ headers: new Headers({ 'x-left': '1' }) })
    await pacer.begin()
    assert.equal(clock.nowMs(), 1_000)
    pacer.answered({ headers: new Headers({ 'x-left': '0', 'ratelimit-reset': '3' }) })
    await pacer.begin()
    assert.equal(clock.nowMs(), 4_000)
    pacer.answered({ headers: new Headers({ 'x-left': '0' }) })
    await pacer.begin()
    assert.equal(clock.nowMs(), 14_000)
  })
})
