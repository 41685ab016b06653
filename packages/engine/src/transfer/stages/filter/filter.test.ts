import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import type { Chunk, Row } from '@penstock/connector'
import { compileFilter } from '@penstock/expressions'
import { filterErrors } from '../../../filter-errors.ts'
import { mapRows } from '../mapping/stage.ts'
import { filterRows } from './filter.ts'

describe('a filter', () => {
  /** Filters rows, and maps them as a transfer does. */
  const filter = (text: string) => {
    const { expression, wrong } = compileFilter(text, ['country', 'n'])
    assert(expression, wrong)
    const map = (rows: readonly Row[]) => ({
      rows: rows.map(([country, n]) => [`${country}!`, n ?? null]),
      errors: new Map(rows.flatMap(([, n], at) => (n === 9 ? [[at, { field: 'n', reason: 'n is nine' }]] : []))),
    })
    return async (source: Pick<Chunk, 'rows' | 'errors' | 'removed'>) => {
      const filtered = await filterRows(expression, { rows: source.rows, errors: new Map() }, source)
      return mapRows({ map, computes: true }, filtered, source)
    }
  }

  test('skips the rows that do not meet it, and rejects those for which it has no value', async () => {
    const rows = [
      ['DE', 1],
      ['FR', 2],
      ['DE', 9],
      ['DE', 'x'],
      [null, 3],
      ['DE', 4],
    ]
    const mapped = await filter('country == "DE" && n > 0')({ rows, errors: new Map([[5, 'broken']]) })
    assert.deepEqual([...(mapped.skipped ?? [])], [0, 1, 0, 0, 1, 0])
    assert.deepEqual(mapped.rows[0], ['DE!', 1])
    assert.deepEqual(
      [...mapped.errors].sort(([a], [b]) => a - b),
      [
        [2, { field: 'n', reason: 'n is nine' }],
        [
          3,
          {
            field: 'filter',
            reason: 'The filter has no value: n is a text, and 0 is a number: write number(…), at character 22',
            isUnmapped: true,
          },
        ],
      ],
    )
    assert.equal((await filter('n > 0')({ rows: rows.slice(0, 2) })).skipped, undefined)
    // Only the key of a removed row is known, and the destination can have the row.
    const removals = await filter('country == "DE" && n / 0 > 0')({ rows: rows.slice(0, 2), removed: new Set([0]) })
    assert.deepEqual(
      [removals.rows[0], removals.errors, [...(removals.skipped ?? [])]],
      [['DE!', 1], new Map(), [0, 1]],
    )
  })

  test('takes the rows of a chunk in slices, so that other work has its turn', async () => {
    const rows = Array.from({ length: 1_234 }, (_, n): Row => ['DE', n])
    const map = filter('n % 100 != 7 && 1 / (n - 1000) != 0')
    const broken = new Map([[600, 'broken']])
    const removed = new Set([7, 1_107])
    let turns = 0
    const turn = () => void (turns++ < 100 && setImmediate(turn))
    setImmediate(turn)
    const mapped = await map({ rows, errors: broken, removed })
    assert(turns > 1, `${turns} turns`)
    assert.deepEqual([...mapped.errors.keys()].sort(), [1_000, 9])
    for (const [n, row] of mapped.rows.entries()) {
      const isSkipped = n % 100 === 7 && !removed.has(n)
      assert.equal(mapped.skipped?.[n], isSkipped ? 1 : 0, String(n))
      assert.deepEqual(row, isSkipped || n === 600 || n === 1_000 ? ['DE', n] : ['DE!', n])
    }
  })

  test('must be a condition', () => {
    const message = 'must be a condition, such as row.country == "DE", and is a text'
    assert.deepEqual(filterErrors('lower(country)', undefined, 'a.filter'), [
      { field: 'a.filter', message, place: { at: 0, length: 14, message: `The expression ${message}.` } },
    ])
    assert.deepEqual(filterErrors('  ', undefined, 'a.filter'), [])
    assert.match(filterErrors('x ==', undefined, 'f')[0]?.message ?? '', /ends after ==: a value is missing/)
  })
})
