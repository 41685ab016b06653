import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import type { ColumnChange } from '@penstock/wire'
import { columnChanges as say } from '../../strings/column-changes.ts'
import { columnGroupsOf } from './column-groups.ts'

const changed = (
  side: ColumnChange['side'],
  change: ColumnChange['change'],
  column: string,
  to: string | null = null,
) => ({ side, change, column, from: change === 'renamed' ? column : null, to }) satisfies ColumnChange
const changes = [
  changed('destination', 'retyped', 'age', 'text'),
  changed('source', 'removed', 'city'),
  changed('source', 'added', 'newsletter', 'boolean'),
  changed('source', 'renamed', 'phone', 'phone_number'),
  changed('source', 'added', 'loyalty_tier', 'text'),
]
const words = (mapping: string, hasTable = true) =>
  columnGroupsOf(changes, { destConnectionConfig: { mapping } }, hasTable).map((group) => [
    say.group(group, 'Warehouse'),
    say.consequence(group, 'Warehouse'),
    say.decide(group, group.adds),
  ])

describe('groups of changed columns', () => {
  test('have a consequence and an action each, with a mapping that names the columns', () => {
    assert.deepEqual(words('{"name":"name","phone":"phone"}'), [
      ['Added 2', 'Warehouse gets these columns, if its table can be changed.', 'Accept and add 2 columns'],
      ['Renamed 1', 'The mapping reads the new name. Correct expressions that read phone.', 'Read phone_number'],
      ['Removed 1', 'No longer sent. Correct expressions that read city.', 'Stop sending city'],
      ['New type 1, in Warehouse', 'Values that do not fit the new type are rejected.', 'Accept 1 new type'],
    ])
  })

  test('say that names change at the destination if all columns pass, and that no mapping uses new columns', () => {
    assert.equal(words('')[1]?.[1], 'Warehouse gets phone_number as a new column.')
    assert.deepEqual(words('{"name":"name"}', false)[0], [
      'Added 2',
      'The mapping does not use them, so they are not sent.',
      'Accept without 2 columns',
    ])
  })
})
