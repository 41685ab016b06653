import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { StreamEvent } from '@penstock/wire'
import { examplesOf } from './examples.ts'

const event = (value: string | null, outcome: StreamEvent['outcome'] = 'stored') => ({ outcome, value }) as StreamEvent

test('columns of the events in view have their share and a few values', () => {
  const { events, columns } = examplesOf([
    event('{"event":"A","properties":{"total":1,"items":[1]}}'),
    event('{"event":"B","properties":{"total":1}}'),
    event('{"event":"C","properties":null}'),
    event('{"event":"cut of'),
    event(null, 'repeated'),
  ])
  assert.equal(events, 3)
  assert.deepEqual(Object.fromEntries(columns), {
    event: { events: 3, values: ['A', 'B'] },
    'properties.total': { events: 2, values: ['1'] },
    'properties.items': { events: 1, values: ['[1]'] },
  })
})

test('long values are cut, and empty ones are no example', () => {
  const { columns } = examplesOf([event(JSON.stringify({ a: 'x'.repeat(50), b: '' }))])
  assert.deepEqual(columns.get('a')?.values, [`${'x'.repeat(40)}…`])
  assert.deepEqual(columns.get('b'), { events: 1, values: [] })
})
