import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { limits, type Reject } from '@penstock/wire'
import { columnsOf, editsOf, inCalls, rowsOf } from './correction.ts'
import { columnFinder, everyReason, faultyColumns, groupsOf } from './groups.ts'

const reject = (number: number, of: Partial<Reject> = {}): Reject => ({
  number,
  row: number * 10,
  count: 1,
  field: 'amount',
  reason: `"${of.record?.Total ?? 'k.A.'}" is not a number.`,
  record: { Id: String(number), Total: 'k.A.' },
  edited: null,
  structural: false,
  superseded: false,
  editable: true,
  state: 'waiting',
  resent: null,
  ...of,
})
const columnOf = columnFinder({ destConnectionConfig: { mapping: '{"amount":"Total"}' } })

describe('groups of rejected rows', () => {
  test('have the same reason, whatever value it quotes, with the column of the mapping', () => {
    const short = { field: null, structural: true, reason: 'The row has 1 value, but the header has 2.' }
    const groups = groupsOf(
      [reject(1), reject(2, { record: { Id: '2', Total: '–' } }), reject(3, short), reject(4)],
      columnOf,
    )
    assert.deepEqual(
      groups.map(({ title, column, shape, count, values }) => ({ title, column, shape, count, values })),
      [
        {
          title: 'Not a number',
          column: 'Total',
          shape: undefined,
          count: 3,
          values: [
            ['k.A.', 2],
            ['–', 1],
          ],
        },
        {
          title: 'The row has 1 value, but the header has 2',
          column: undefined,
          shape: { has: 1, needs: 2 },
          count: 1,
          values: [],
        },
      ],
    )
  })

  test('have the columns of all faults of a row, each once', () => {
    const otherFaults = [
      { field: 'Id', reason: 'Id is no number.' },
      { field: 'amount', reason: 'amount is too large.' },
      { field: null, reason: 'The row is too large.' },
    ]
    const row = reject(1, { otherFaults })
    assert.deepEqual(faultyColumns(row, columnOf), ['Total', 'Id'])
    assert.deepEqual(columnsOf(row, faultyColumns(row, columnOf), undefined).faulty, ['Total', 'Id'])
    assert.deepEqual(everyReason(row), ['"k.A." is not a number.', ...otherFaults.map(({ reason }) => reason)])
  })

  test('find the column by its name if the mapping does not contain the field', () => {
    const find = columnFinder({ destConnectionConfig: {} })
    assert.equal(find({ field: 'e_mail', record: { 'E-Mail': '' } }), 'E-Mail')
    assert.equal(find({ field: 'phone', record: { 'E-Mail': '' } }), undefined)
    assert.equal(find({ field: null, record: { 'E-Mail': '' } }), undefined)
  })
})

describe('a correction', () => {
  const same = [reject(1), reject(2, { record: { Id: '2', Total: '–' } }), reject(3, { editable: false }), reject(4)]
  const first = same[0] as Reject

  test('applies to one row, to rows with the same value, or to all rows that can be corrected', () => {
    const numbers = (scope: 'one' | 'same' | 'all') => rowsOf(scope, first, same, 'Total').map(({ number }) => number)
    assert.deepEqual([numbers('one'), numbers('same'), numbers('all')], [[1], [1, 4], [1, 2, 4]])
  })

  test('sets one column of the other rows, repeats earlier corrections, and takes unchanged values back', () => {
    const other = reject(2, { edited: { Id: '20', Total: 'k.A.' } })
    assert.deepEqual(editsOf([first, other], first, 'Total', { Total: null, Id: '9' }), [
      { number: 1, record: { Id: '9', Total: null } },
      { number: 2, record: { Id: '20', Total: null } },
    ])
    assert.deepEqual(editsOf([first], first, 'Total', { Total: 'k.A.' }), [{ number: 1, record: {} }])
  })

  test('of a broken row contains all columns, the broken place first', () => {
    const broken = reject(5, { structural: true, record: { Id: '5', Total: null, Note: null } })
    assert.deepEqual(editsOf([broken], broken, undefined, {})[0]?.record, { Id: '5', Total: null, Note: null })
    assert.deepEqual(columnsOf(broken, [], { has: 2, needs: 3 }), { faulty: ['Total', 'Note'], others: ['Id'] })
    assert.deepEqual(columnsOf(broken, [], { has: 4, needs: 3 }).faulty, [])
  })

  test('of many rows is divided into calls', () => {
    const edits = Array.from({ length: limits.rejectEditsMax + 1 }, (_, i) => ({ number: i + 1, record: {} }))
    assert.deepEqual(
      inCalls(edits).map(({ length }) => length),
      [limits.rejectEditsMax, 1],
    )
  })
})
