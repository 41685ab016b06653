import assert from 'node:assert/strict'
import { test } from 'node:test'
import { compileExpression } from '@penstock/expressions'
import { tryExpression } from './try-expressions.ts'

const numberOf = (values: readonly string[]) => {
  const { expression } = compileExpression('number(row.n)', ['n'], { hashKey: undefined })
  assert(expression)
  const rows = new Map(values.map((value, at) => [at + 1, [value]]))
  return tryExpression('destConnectionConfig.mapping.n', expression, { columns: ['n'], rows }, 'whole')
}
const rowsOf = (values: readonly string[]) => numberOf(values).rows.map(({ row }) => row)

test('rows are shown in groups of three, each with one that fails as long as there are any', () => {
  const tried = numberOf(['1', '2', '3', '4', 'x', '5', '6', 'y', '7', '8', '9', '10', '11', '12', '13'])
  assert.deepEqual([tried.records, tried.failed], [15, 2])
  assert.deepEqual(
    tried.rows.map(({ row }) => row),
    [1, 2, 5, 3, 4, 8, 6, 7, 9, 10, 11, 12],
  )
  assert.deepEqual(
    tried.rows.map(({ problem }) => problem !== null),
    [false, false, true, false, false, true, ...Array<boolean>(6).fill(false)],
  )
})

test('few rows are all shown once, whether they fail or not', () => {
  assert.deepEqual(rowsOf([]), [])
  assert.deepEqual(rowsOf(['1']), [1])
  assert.deepEqual(rowsOf(['x', 'y', '1', 'z', 'w']), [1, 2, 3, 4, 5])
})
