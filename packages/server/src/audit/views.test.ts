import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createViews } from './views.ts'

test('the calls of a view are one event for an hour, and an event that was not written is written again', async () => {
  let nowMs = 0
  const written: string[] = []
  const views = createViews(() => nowMs)
  const open = (view: string | undefined) =>
    views.once(view, async () => {
      written.push(view ?? 'none')
    })
  await Promise.all([open('a'), open('a'), open('b'), open(undefined), open(undefined)])
  assert.deepEqual(written, ['a', 'b', 'none', 'none'])
  nowMs = 3_599_999
  await open('a')
  assert.equal(written.length, 4)
  nowMs = 3_600_000
  await open('a')
  assert.equal(written.length, 5)
  await assert.rejects(views.once('c', () => Promise.reject(new Error('away'))))
  await open('c')
  assert.equal(written.at(-1), 'c')
  for (let n = 0; n < 10_000; n++) await open(`other ${n}`)
  await open('a')
  assert.equal(written.at(-1), 'a')
})
