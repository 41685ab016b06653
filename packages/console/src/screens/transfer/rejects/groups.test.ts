import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { limits, type Reject } from '@penstock/wire'
import { columnsOf, editsOf, groupScopeOf, inCalls, keysOf, ownEditsOf, rowsOf } from './correction.ts'
import { columnFinder, faultyColumns, groupsOf, type ReasonGroup, reasonsOf } from './groups.ts'

const reject = (number: number, of: Partial<Reject> = {}): Reject => ({
  number,
  row: number * 10,
  place: null,
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
      groups.map(({ fault: { kind }, column, shape, count, values }) => ({ kind, column, shape, count, values })),
      [
        {
          kind: 'number',
          column: 'Total',
          shape: undefined,
          count: 3,
          values: [
            ['k.A.', 2],
            ['–', 1],
          ],
        },
        {
          kind: undefined,
          column: undefined,
          shape: { has: 1, needs: 2 },
          count: 1,
          values: [],
        },
      ],
    )
  })

  test('have one fault, whether the mapping or the destination found it, and whichever form it expects', () => {
    const dates: readonly [value: string, reason: string][] = [
      ['31.02.1989', 'born is not a valid date'],
      ['soon', '"soon" is not a valid date. Expected the form YYYY-MM-DD.'],
      ['1989-02-31', '"1989-02-31" is not a valid date.'],
      ['?', 'born has no value: row["Born"] is not a time in ISO 8601: write time(…), at character 6'],
      ['x', 'A value is not of the type of the column born.'],
    ]
    const rows = dates.map(([Born, reason], at) => reject(at + 1, { field: 'born', reason, record: { Born } }))
    const other = reject(9, { field: 'died', reason: 'died is not a valid date', record: { Died: '?' } })
    const late = reject(10, {
      field: 'born',
      reason: 'A value has no time zone. Add an offset.',
      record: { Born: '1' },
    })
    const groups = groupsOf([...rows, other, late], columnOf)
    assert.deepEqual(
      groups.map(({ fault: { kind, words }, field, count }) => [kind ?? words, field, count]),
      [
        ['date', 'born', 5],
        ['date', 'died', 1],
        ['has no time zone', 'born', 1],
      ],
    )
    const short = [1, 2].map((has) => ({
      structural: true,
      reason: `The row has ${has} values, but the header has 3.`,
    }))
    assert.equal(
      groupsOf(
        short.map((of, at) => reject(at + 1, { ...of, field: null })),
        columnOf,
      ).length,
      1,
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
    assert.deepEqual(reasonsOf(row, columnOf), [
      '"k.A." is not a number.',
      '"1" is no number.',
      '"k.A." is too large.',
      'The row is too large.',
    ])
    const missing = reject(2, { reason: 'amount is missing', record: { Id: '2', Total: null } })
    assert.deepEqual(reasonsOf(missing, columnOf), ['amount is missing.'])
    const again = { transferId: 'x', reason: 'amount is not a number' }
    assert.deepEqual(reasonsOf(reject(3, { edited: { Total: 'viele' }, resent: again }), columnOf), [
      '"viele" is not a number.',
    ])
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

  test('of a group sets one value for all rows, unless each row needs its own', () => {
    const scopeOf = (values: readonly string[], of: Partial<Reject> = {}, keys: readonly string[] = []) => {
      const rows = values.map((Total, at) => reject(at + 1, { ...of, record: { Id: String(at), Total } }))
      return groupScopeOf(groupsOf(rows, columnOf)[0] as ReasonGroup, keys)
    }
    const fillers = ['k.A.', 'k.A.', 'k.A.', '–', 'auf Anfrage', 'k.A.', 'k.A.']
    assert.equal(scopeOf(fillers), 'all')
    assert.equal(scopeOf(['k.A.']), 'one')
    assert.equal(scopeOf(['12,x', '7-', '1.2.3', 'k.A.', 'k.A.']), 'each', 'most values differ')
    assert.equal(scopeOf(fillers, {}, keysOf({ keyColumns: 'Id, Amount' })), 'each', 'a key')
    assert.equal(scopeOf(fillers, { reason: 'amount is not an e-mail address' }), 'each', 'a person')
    assert.equal(scopeOf(fillers, { otherFaults: [{ field: 'Id', reason: 'Id is missing' }] }), 'each', 'two faults')
  })

  test('of each row sends only the rows that were changed', () => {
    const changed = new Map([
      [1, { Total: '1' }],
      [4, { Total: '4' }],
    ])
    assert.deepEqual(ownEditsOf(same, changed), [
      { number: 1, record: { Total: '1' } },
      { number: 4, record: { Total: '4' } },
    ])
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
