import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { ColumnChange, ConnectionEvent } from '@penstock/wire'
import { columnNewsOf, newestChanges } from './column-news.ts'

const change = (
  side: ColumnChange['side'],
  kind: ColumnChange['change'],
  column: string,
  from: string | null,
  to: string | null,
) => ({
  side,
  change: kind,
  column,
  from,
  to,
})

test('columns that the table got are said once, with their types; others of the source say whether they are sent', () => {
  const changes = [
    change('source', 'added', 'discount', null, 'numeric'),
    change('source', 'added', 'note', null, null),
    change('destination', 'added', 'Discount', null, 'numeric'),
    change('source', 'renamed', 'mail', 'mail', 'email'),
    change('source', 'retyped', 'age', 'integer', 'text'),
  ]
  assert.deepEqual(columnNewsOf(changes, { table: 'sales.orders', mapped: true }), [
    'Added 1 column to sales.orders: Discount (numeric)',
    'The source has 1 new column: note. The mapping does not send it',
    'The source renamed 1 column: mail → email',
    'New type of 1 column of the source: age integer → text',
  ])
  assert.deepEqual(columnNewsOf(changes.slice(1, 2), { table: 'orders', mapped: false }), [
    'The source has 1 new column: note',
  ])
})

test('the history has the same changes', () => {
  const event = (
    time: number,
    to: string,
    changes: ConnectionEvent['changes'],
    kind: ConnectionEvent['kind'] = 'columns',
  ) => ({
    id: `${time}${to}`,
    time,
    kind,
    from: null,
    to,
    actor: null,
    changes,
  })
  const events = [
    event(9, 'name', null, 'renamed'),
    event(8, 'Destination', [{ key: 'discount', from: null, to: 'numeric' }]),
    event(8, 'Source', [
      { key: 'discount', from: null, to: 'numeric' },
      { key: 'mail', from: 'mail', to: 'email' },
      { key: 'old', from: 'text', to: null },
      { key: 'age', from: 'integer', to: 'text' },
    ]),
    event(7, 'Source', [{ key: 'before', from: null, to: 'text' }]),
  ] as ConnectionEvent[]
  assert.deepEqual(newestChanges(events), {
    time: 8,
    changes: [
      change('destination', 'added', 'discount', null, 'numeric'),
      change('source', 'added', 'discount', null, 'numeric'),
      change('source', 'renamed', 'mail', 'mail', 'email'),
      change('source', 'removed', 'old', 'text', null),
      change('source', 'retyped', 'age', 'integer', 'text'),
    ],
  })
  assert.equal(newestChanges(events.slice(0, 1)), undefined)
})
