import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { StreamEvent, StreamEvents } from '@penstock/wire'
import { fatesOf } from './fate.ts'

const event = (number: number) => ({ number }) as StreamEvent
type Consumer = NonNullable<StreamEvents['consumers']>[number]
const consumer = (readNumber: number | null, transfers: Consumer['transfers']) =>
  ({ readNumber, transfers }) as Consumer

test('an event waits, was delivered by a transfer, or was passed by a connection that began behind it', () => {
  const consumers = [
    consumer(null, []),
    consumer(9, [
      { id: 'second', after: 5, last: 9 },
      { id: 'first', after: 2, last: 5 },
    ]),
  ]
  const fates = (number: number) =>
    fatesOf(event(number), consumers).map(({ state, transferId }) => [state, transferId])
  assert.deepEqual(fates(2), [
    ['waiting', undefined],
    ['passed', undefined],
  ])
  assert.deepEqual(
    [3, 5, 6, 9, 10].map((number) => fates(number)[1]),
    [
      ['delivered', 'first'],
      ['delivered', 'first'],
      ['delivered', 'second'],
      ['delivered', 'second'],
      ['waiting', undefined],
    ],
  )
})
