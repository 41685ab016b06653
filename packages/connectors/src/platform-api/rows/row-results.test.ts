import assert from 'node:assert/strict'
import { test } from 'node:test'
import { rejectionsOf } from './row-results.ts'

const sent = [{ rows: [0] }, { rows: [2, 3], key: 'a' }, { rows: [5], key: 'b' }, { rows: [6], key: 'a' }]

test('what is blamed by place, key or count is rejected, and nothing else', () => {
  assert.deepEqual(rejectionsOf(sent, []), [])
  assert.deepEqual(rejectionsOf(sent, [{ at: 0, reason: 'no person' }]), [{ index: 0, reason: 'no person' }])
  assert.deepEqual(rejectionsOf(sent, [{ key: 'b', reason: 'too old', field: 'event_time' }]), [
    { index: 5, reason: 'too old', field: 'event_time' },
  ])
  assert.deepEqual(rejectionsOf(sent, [{ count: 2, reason: 'invalid' }]), [{ count: 2, reason: 'invalid' }])
})

test('a key blames every item that was sent with it, with all its rows', () => {
  assert.deepEqual(
    rejectionsOf(sent, [{ key: 'a', reason: 'unknown' }]).map((rejection) => rejection.index),
    [2, 3, 6],
  )
})

test('a row is rejected once, with the first reason', () => {
  const twice = [
    { at: 1, reason: 'first' },
    { key: 'a', reason: 'second' },
    { at: 1, reason: 'third' },
  ]
  assert.deepEqual(rejectionsOf(sent, twice), [
    { index: 2, reason: 'first' },
    { index: 3, reason: 'first' },
    { index: 6, reason: 'second' },
  ])
  const items = [{ rows: [1] }, { rows: [1, 2] }]
  const all = items.map((_, at) => ({ at, reason: 'bad' }))
  assert.deepEqual(rejectionsOf(items, all), [
    { index: 1, reason: 'bad' },
    { index: 2, reason: 'bad' },
  ])
})

test('blame for what was never sent is dropped, and no more rows are rejected than were sent', () => {
  const wild = [-1, 4, 1.5, Number.NaN, Number.POSITIVE_INFINITY].map((at) => ({ at, reason: 'x' }))
  assert.deepEqual(rejectionsOf(sent, [...wild, { key: 'c', reason: 'x' }]), [])
  const counts = [Number.NaN, -3, 0.5, Number.POSITIVE_INFINITY, 9].map((count) => ({ count, reason: `${count}` }))
  // Five rows were sent, and one of them is blamed by name, whatever comes first.
  assert.deepEqual(rejectionsOf(sent, [...counts, { at: 0, reason: 'named' }]), [
    { index: 0, reason: 'named' },
    { count: 4, reason: 'Infinity' },
  ])
})
